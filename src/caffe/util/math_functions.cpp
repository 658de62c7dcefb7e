#include "caffe/util/math_functions.hpp"

#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real.hpp>
#include <limits>

#include "caffe/util/rng.hpp"
#include "cpu/copy.hpp"
#include "cpu/gemm.hpp"
#include "cpu/parallel.hpp"

namespace caffe {

namespace {

// y[i] = f(i) for all i, on all threads when that pays.
template <typename Dtype, typename Function>
void Fill(int n, Dtype* y, const Function& f) {
  cpu::ParallelFor(n, cpu::kElementwiseGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(i);
  });
}

}  // namespace

template <typename Dtype>
void caffe_cpu_gemm(const CBLAS_TRANSPOSE TransA, const CBLAS_TRANSPOSE TransB,
                    const int M, const int N, const int K, const Dtype alpha,
                    const Dtype* A, const Dtype* B, const Dtype beta,
                    Dtype* C) {
  cpu::Gemm(TransA, TransB, M, N, K, alpha, A, B, beta, C);
}

template <>
void caffe_cpu_gemv<float>(const CBLAS_TRANSPOSE TransA, const int M,
                           const int N, const float alpha, const float* A,
                           const float* x, const float beta, float* y) {
  cblas_sgemv(CblasRowMajor, TransA, M, N, alpha, A, N, x, 1, beta, y, 1);
}

template <>
void caffe_cpu_gemv<double>(const CBLAS_TRANSPOSE TransA, const int M,
                            const int N, const double alpha, const double* A,
                            const double* x, const double beta, double* y) {
  cblas_dgemv(CblasRowMajor, TransA, M, N, alpha, A, N, x, 1, beta, y, 1);
}

template <>
void caffe_axpy<float>(const int N, const float alpha, const float* X,
                       float* Y) {
  cblas_saxpy(N, alpha, X, 1, Y, 1);
}

template <>
void caffe_axpy<double>(const int N, const double alpha, const double* X,
                        double* Y) {
  cblas_daxpy(N, alpha, X, 1, Y, 1);
}

template <>
void caffe_cpu_axpby<float>(const int N, const float alpha, const float* X,
                            const float beta, float* Y) {
  cblas_saxpby(N, alpha, X, 1, beta, Y, 1);
}

template <>
void caffe_cpu_axpby<double>(const int N, const double alpha, const double* X,
                             const double beta, double* Y) {
  cblas_daxpby(N, alpha, X, 1, beta, Y, 1);
}

template <>
void caffe_scal<float>(const int N, const float alpha, float* X) {
  cblas_sscal(N, alpha, X, 1);
}

template <>
void caffe_scal<double>(const int N, const double alpha, double* X) {
  cblas_dscal(N, alpha, X, 1);
}

template <>
float caffe_cpu_strided_dot<float>(const int n, const float* x, const int incx,
                                   const float* y, const int incy) {
  return cblas_sdot(n, x, incx, y, incy);
}

template <>
double caffe_cpu_strided_dot<double>(const int n, const double* x,
                                     const int incx, const double* y,
                                     const int incy) {
  return cblas_ddot(n, x, incx, y, incy);
}

template <>
float caffe_cpu_asum<float>(const int n, const float* x) {
  return cblas_sasum(n, x, 1);
}

template <>
double caffe_cpu_asum<double>(const int n, const double* x) {
  return cblas_dasum(n, x, 1);
}

template <typename Dtype>
void caffe_copy(const int N, const Dtype* X, Dtype* Y) {
  if (X == Y) return;
  cpu::Copy(N, X, Y);
}

template <typename Dtype>
void caffe_set(const int N, const Dtype alpha, Dtype* X) {
  Fill(N, X, [=](int64_t) { return alpha; });
}

template <typename Dtype>
void caffe_add_scalar(const int N, const Dtype alpha, Dtype* X) {
  Fill(N, X, [=](int64_t i) { return X[i] + alpha; });
}

template <typename Dtype>
void caffe_sqr(const int N, const Dtype* a, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return a[i] * a[i]; });
}

template <typename Dtype>
void caffe_sqrt(const int N, const Dtype* a, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return std::sqrt(a[i]); });
}

template <typename Dtype>
void caffe_add(const int N, const Dtype* a, const Dtype* b, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return a[i] + b[i]; });
}

template <typename Dtype>
void caffe_sub(const int N, const Dtype* a, const Dtype* b, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return a[i] - b[i]; });
}

template <typename Dtype>
void caffe_mul(const int N, const Dtype* a, const Dtype* b, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return a[i] * b[i]; });
}

template <typename Dtype>
void caffe_div(const int N, const Dtype* a, const Dtype* b, Dtype* y) {
  Fill(N, y, [=](int64_t i) { return a[i] / b[i]; });
}

template <typename Dtype>
void caffe_powx(const int n, const Dtype* a, const Dtype b, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return std::pow(a[i], b); });
}

template <typename Dtype>
void caffe_exp(const int n, const Dtype* a, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return std::exp(a[i]); });
}

template <typename Dtype>
void caffe_log(const int n, const Dtype* a, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return std::log(a[i]); });
}

template <typename Dtype>
void caffe_abs(const int n, const Dtype* a, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return std::fabs(a[i]); });
}

template <typename Dtype>
void caffe_cpu_fabs(const int n, const Dtype* x, Dtype* y) {
  caffe_abs(n, x, y);
}

template <typename Dtype>
void caffe_cpu_sign(const int n, const Dtype* x, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return Dtype(caffe_sign(x[i])); });
}

template <typename Dtype>
void caffe_cpu_sgnbit(const int n, const Dtype* x, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return Dtype(std::signbit(x[i])); });
}

template <typename Dtype>
void caffe_cpu_scale(const int n, const Dtype alpha, const Dtype* x, Dtype* y) {
  Fill(n, y, [=](int64_t i) { return alpha * x[i]; });
}

template <typename Dtype>
Dtype caffe_cpu_dot(const int n, const Dtype* x, const Dtype* y) {
  return caffe_cpu_strided_dot(n, x, 1, y, 1);
}

unsigned int caffe_rng_rand() { return (*caffe_rng())(); }

template <typename Dtype>
Dtype caffe_nextafter(const Dtype b) {
  return std::nextafter(b, std::numeric_limits<Dtype>::max());
}

template <typename Dtype>
void caffe_rng_uniform(const int n, const Dtype a, const Dtype b, Dtype* r) {
  CHECK_GE(n, 0);
  CHECK(r);
  Require(a <= b, "cannot draw uniform numbers from ", a, " to ", b);
  boost::uniform_real<Dtype> distribution(a, caffe_nextafter(b));
  for (int i = 0; i < n; ++i) r[i] = distribution(*caffe_rng());
}

template <typename Dtype>
void caffe_rng_gaussian(const int n, const Dtype mu, const Dtype sigma,
                        Dtype* r) {
  CHECK_GE(n, 0);
  CHECK(r);
  Require(sigma > 0, "cannot draw normal numbers with standard deviation ",
          sigma);
  boost::random::normal_distribution<Dtype> distribution(mu, sigma);
  for (int i = 0; i < n; ++i) r[i] = distribution(*caffe_rng());
}

namespace {

template <typename Dtype, typename Integer>
void Bernoulli(int n, Dtype p, Integer* r) {
  CHECK_GE(n, 0);
  CHECK(r);
  Require(p >= 0 && p <= 1, "cannot draw with probability ", p);
  boost::random::bernoulli_distribution<Dtype> distribution(p);
  for (int i = 0; i < n; ++i) r[i] = distribution(*caffe_rng()) ? 1 : 0;
}

}  // namespace

template <typename Dtype>
void caffe_rng_bernoulli(const int n, const Dtype p, int* r) {
  Bernoulli(n, p, r);
}

template <typename Dtype>
void caffe_rng_bernoulli(const int n, const Dtype p, unsigned int* r) {
  Bernoulli(n, p, r);
}

template void caffe_copy(const int, const int*, int*);
template void caffe_copy(const int, const unsigned int*, unsigned int*);
template void caffe_set(const int, const int, int*);
template void caffe_set(const int, const unsigned int, unsigned int*);

#define INSTANTIATE_MATH(Dtype)                                                \
  template void caffe_cpu_gemm(const CBLAS_TRANSPOSE, const CBLAS_TRANSPOSE,   \
                               const int, const int, const int, const Dtype,   \
                               const Dtype*, const Dtype*, const Dtype,        \
                               Dtype*);                                        \
  template void caffe_copy(const int, const Dtype*, Dtype*);                   \
  template void caffe_set(const int, const Dtype, Dtype*);                     \
  template void caffe_add_scalar(const int, const Dtype, Dtype*);              \
  template void caffe_sqr(const int, const Dtype*, Dtype*);                    \
  template void caffe_sqrt(const int, const Dtype*, Dtype*);                   \
  template void caffe_add(const int, const Dtype*, const Dtype*, Dtype*);      \
  template void caffe_sub(const int, const Dtype*, const Dtype*, Dtype*);      \
  template void caffe_mul(const int, const Dtype*, const Dtype*, Dtype*);      \
  template void caffe_div(const int, const Dtype*, const Dtype*, Dtype*);      \
  template void caffe_powx(const int, const Dtype*, const Dtype, Dtype*);      \
  template void caffe_exp(const int, const Dtype*, Dtype*);                    \
  template void caffe_log(const int, const Dtype*, Dtype*);                    \
  template void caffe_abs(const int, const Dtype*, Dtype*);                    \
  template void caffe_cpu_fabs(const int, const Dtype*, Dtype*);               \
  template void caffe_cpu_sign(const int, const Dtype*, Dtype*);               \
  template void caffe_cpu_sgnbit(const int, const Dtype*, Dtype*);             \
  template void caffe_cpu_scale(const int, const Dtype, const Dtype*, Dtype*); \
  template Dtype caffe_cpu_dot(const int, const Dtype*, const Dtype*);         \
  template Dtype caffe_nextafter(const Dtype);                                 \
  template void caffe_rng_uniform(const int, const Dtype, const Dtype,         \
                                  Dtype*);                                     \
  template void caffe_rng_gaussian(const int, const Dtype, const Dtype,        \
                                   Dtype*);                                    \
  template void caffe_rng_bernoulli(const int, const Dtype, int*);             \
  template void caffe_rng_bernoulli(const int, const Dtype, unsigned int*)

INSTANTIATE_MATH(float);
INSTANTIATE_MATH(double);

}  // namespace caffe
