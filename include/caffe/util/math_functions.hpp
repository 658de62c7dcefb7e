#ifndef CAFFE_UTIL_MATH_FUNCTIONS_H_
#define CAFFE_UTIL_MATH_FUNCTIONS_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "caffe/common.hpp"
#include "caffe/util/mkl_alternate.hpp"

// Vector and matrix arithmetic on host pointers, for float and double.

namespace caffe {

// C = alpha * op(A) * op(B) + beta * C, row-major; op(A) is M x K.
template <typename Dtype>
void caffe_cpu_gemm(const CBLAS_TRANSPOSE TransA, const CBLAS_TRANSPOSE TransB,
                    const int M, const int N, const int K, const Dtype alpha,
                    const Dtype* A, const Dtype* B, const Dtype beta, Dtype* C);

// y = alpha * op(A) * x + beta * y; A is M x N before op.
template <typename Dtype>
void caffe_cpu_gemv(const CBLAS_TRANSPOSE TransA, const int M, const int N,
                    const Dtype alpha, const Dtype* A, const Dtype* x,
                    const Dtype beta, Dtype* y);

// Y += alpha * X.
template <typename Dtype>
void caffe_axpy(const int N, const Dtype alpha, const Dtype* X, Dtype* Y);

// Y = alpha * X + beta * Y.
template <typename Dtype>
void caffe_cpu_axpby(const int N, const Dtype alpha, const Dtype* X,
                     const Dtype beta, Dtype* Y);

// Y = X; nothing when they are the same.
template <typename Dtype>
void caffe_copy(const int N, const Dtype* X, Dtype* Y);

template <typename Dtype>
void caffe_set(const int N, const Dtype alpha, Dtype* X);

inline void caffe_memset(const size_t N, const int alpha, void* X) {
  std::memset(X, alpha, N);
}

template <typename Dtype>
void caffe_add_scalar(const int N, const Dtype alpha, Dtype* X);

template <typename Dtype>
void caffe_scal(const int N, const Dtype alpha, Dtype* X);

template <typename Dtype>
void caffe_sqr(const int N, const Dtype* a, Dtype* y);

template <typename Dtype>
void caffe_sqrt(const int N, const Dtype* a, Dtype* y);

template <typename Dtype>
void caffe_add(const int N, const Dtype* a, const Dtype* b, Dtype* y);

template <typename Dtype>
void caffe_sub(const int N, const Dtype* a, const Dtype* b, Dtype* y);

template <typename Dtype>
void caffe_mul(const int N, const Dtype* a, const Dtype* b, Dtype* y);

template <typename Dtype>
void caffe_div(const int N, const Dtype* a, const Dtype* b, Dtype* y);

template <typename Dtype>
void caffe_powx(const int n, const Dtype* a, const Dtype b, Dtype* y);

// 32 random bits.
unsigned int caffe_rng_rand();

// The next value above b that Dtype can represent.
template <typename Dtype>
Dtype caffe_nextafter(const Dtype b);

// Uniform in [a, b].
template <typename Dtype>
void caffe_rng_uniform(const int n, const Dtype a, const Dtype b, Dtype* r);

template <typename Dtype>
void caffe_rng_gaussian(const int n, const Dtype mu, const Dtype sigma,
                        Dtype* r);

// 1 with probability p.
template <typename Dtype>
void caffe_rng_bernoulli(const int n, const Dtype p, int* r);

template <typename Dtype>
void caffe_rng_bernoulli(const int n, const Dtype p, unsigned int* r);

template <typename Dtype>
void caffe_exp(const int n, const Dtype* a, Dtype* y);

template <typename Dtype>
void caffe_log(const int n, const Dtype* a, Dtype* y);

template <typename Dtype>
void caffe_abs(const int n, const Dtype* a, Dtype* y);

template <typename Dtype>
Dtype caffe_cpu_dot(const int n, const Dtype* x, const Dtype* y);

template <typename Dtype>
Dtype caffe_cpu_strided_dot(const int n, const Dtype* x, const int incx,
                            const Dtype* y, const int incy);

// Sum of absolute values.
template <typename Dtype>
Dtype caffe_cpu_asum(const int n, const Dtype* x);

// -1, 0 or 1.
template <typename Dtype>
inline int8_t caffe_sign(Dtype val) {
  return (Dtype(0) < val) - (val < Dtype(0));
}

// y[i] = f(x[i]); kept for sources that define their own.
#define DEFINE_CAFFE_CPU_UNARY_FUNC(name, operation)             \
  template <typename Dtype>                                      \
  void caffe_cpu_##name(const int n, const Dtype* x, Dtype* y) { \
    CHECK_GT(n, 0);                                              \
    CHECK(x);                                                    \
    CHECK(y);                                                    \
    for (int i = 0; i < n; ++i) {                                \
      operation;                                                 \
    }                                                            \
  }

template <typename Dtype>
void caffe_cpu_sign(const int n, const Dtype* x, Dtype* y);

// 1 where the sign bit is set.
template <typename Dtype>
void caffe_cpu_sgnbit(const int n, const Dtype* x, Dtype* y);

template <typename Dtype>
void caffe_cpu_fabs(const int n, const Dtype* x, Dtype* y);

// y = alpha * x.
template <typename Dtype>
void caffe_cpu_scale(const int n, const Dtype alpha, const Dtype* x, Dtype* y);

}  // namespace caffe

#endif  // CAFFE_UTIL_MATH_FUNCTIONS_H_
