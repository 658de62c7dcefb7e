#ifndef CAFFE_SRC_CPU_GEMM_HPP_
#define CAFFE_SRC_CPU_GEMM_HPP_

#include "caffe/util/mkl_alternate.hpp"

namespace caffe::cpu {

// C = alpha * op(A) * op(B) + beta * C, row-major; op(A) is m x k, and lda, ldb
// and ldc count the values from one row of A, B and C to the next. C is not
// read when beta is 0. By oneDNN or, for reference kernels and where oneDNN has
// no fast code, by BLAS.
void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          float alpha, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc);
void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          double alpha, const double* a, int lda, const double* b, int ldb,
          double beta, double* c, int ldc);

// The same without gaps between rows.
void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          float alpha, const float* a, const float* b, float beta, float* c);
void Gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
          double alpha, const double* a, const double* b, double beta,
          double* c);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_GEMM_HPP_
