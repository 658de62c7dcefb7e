#include "cpu/gemm.hpp"

#include <dnnl.hpp>

#include <algorithm>

#include "cpu/engine.hpp"

namespace caffe::cpu {

namespace {

// Values from the start of one row to that of the next; at least 1, or BLAS
// complains about empty matrices.
int RowLength(CBLAS_TRANSPOSE op, int columns, int rows) {
  return std::max(1, op == CblasNoTrans ? columns : rows);
}

// Whether oneDNN makes code for this processor. It does for every x86 one by
// what it can do; OpenBLAS goes by model, and takes one it does not know for a
// very old one.
bool DnnlHasCode() {
  static const bool has_code =
      static_cast<int>(dnnl::get_effective_cpu_isa()) != 0;
  return has_code;
}

}  // namespace

void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          float alpha, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  // oneDNN leaves C alone where there is nothing to add to it.
  if (k > 0 && kernels() == Kernels::kFastest && DnnlHasCode()) {
    const dnnl::status status = dnnl::sgemm(
        op_a == CblasNoTrans ? 'N' : 'T', op_b == CblasNoTrans ? 'N' : 'T', m,
        n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (status == dnnl::status::success) return;
  }
  cblas_sgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta,
              c, ldc);
}

void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          double alpha, const double* a, int lda, const double* b, int ldb,
          double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta,
              c, ldc);
}

void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          float alpha, const float* a, const float* b, float beta, float* c) {
  Gemm(op_a, op_b, m, n, k, alpha, a, RowLength(op_a, k, m), b,
       RowLength(op_b, n, k), beta, c, std::max(1, n));
}

void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          double alpha, const double* a, const double* b, double beta,
          double* c) {
  Gemm(op_a, op_b, m, n, k, alpha, a, RowLength(op_a, k, m), b,
       RowLength(op_b, n, k), beta, c, std::max(1, n));
}

}  // namespace caffe::cpu
