#ifndef CAFFE_UTIL_MKL_ALTERNATE_H_
#define CAFFE_UTIL_MKL_ALTERNATE_H_

#include <cblas.h>
#include <glog/logging.h>

#include <cmath>

// MKL's vector functions, and its axpby, by the names sources written for Caffe
// call. They are plain loops: the library itself calls caffe_* instead.

#define DEFINE_VSL_UNARY_FUNC(name, operation)                    \
  template <typename Dtype>                                       \
  void v##name(const int n, const Dtype* a, Dtype* y) {           \
    CHECK_GT(n, 0);                                               \
    CHECK(a);                                                     \
    CHECK(y);                                                     \
    for (int i = 0; i < n; ++i) {                                 \
      operation;                                                  \
    }                                                             \
  }                                                               \
  inline void vs##name(const int n, const float* a, float* y) {   \
    v##name<float>(n, a, y);                                      \
  }                                                               \
  inline void vd##name(const int n, const double* a, double* y) { \
    v##name<double>(n, a, y);                                     \
  }

DEFINE_VSL_UNARY_FUNC(Sqr, y[i] = a[i] * a[i])
DEFINE_VSL_UNARY_FUNC(Sqrt, y[i] = std::sqrt(a[i]))
DEFINE_VSL_UNARY_FUNC(Exp, y[i] = std::exp(a[i]))
DEFINE_VSL_UNARY_FUNC(Ln, y[i] = std::log(a[i]))
DEFINE_VSL_UNARY_FUNC(Abs, y[i] = std::fabs(a[i]))

#define DEFINE_VSL_UNARY_FUNC_WITH_PARAM(name, operation)                      \
  template <typename Dtype>                                                    \
  void v##name(const int n, const Dtype* a, const Dtype b, Dtype* y) {         \
    CHECK_GT(n, 0);                                                            \
    CHECK(a);                                                                  \
    CHECK(y);                                                                  \
    for (int i = 0; i < n; ++i) {                                              \
      operation;                                                               \
    }                                                                          \
  }                                                                            \
  inline void vs##name(const int n, const float* a, const float b, float* y) { \
    v##name<float>(n, a, b, y);                                                \
  }                                                                            \
  inline void vd##name(const int n, const double* a, const double b,           \
                       double* y) {                                            \
    v##name<double>(n, a, b, y);                                               \
  }

DEFINE_VSL_UNARY_FUNC_WITH_PARAM(Powx, y[i] = std::pow(a[i], b))

#define DEFINE_VSL_BINARY_FUNC(name, operation)                         \
  template <typename Dtype>                                             \
  void v##name(const int n, const Dtype* a, const Dtype* b, Dtype* y) { \
    CHECK_GT(n, 0);                                                     \
    CHECK(a);                                                           \
    CHECK(b);                                                           \
    CHECK(y);                                                           \
    for (int i = 0; i < n; ++i) {                                       \
      operation;                                                        \
    }                                                                   \
  }                                                                     \
  inline void vs##name(const int n, const float* a, const float* b,     \
                       float* y) {                                      \
    v##name<float>(n, a, b, y);                                         \
  }                                                                     \
  inline void vd##name(const int n, const double* a, const double* b,   \
                       double* y) {                                     \
    v##name<double>(n, a, b, y);                                        \
  }

DEFINE_VSL_BINARY_FUNC(Add, y[i] = a[i] + b[i])
DEFINE_VSL_BINARY_FUNC(Sub, y[i] = a[i] - b[i])
DEFINE_VSL_BINARY_FUNC(Mul, y[i] = a[i] * b[i])
DEFINE_VSL_BINARY_FUNC(Div, y[i] = a[i] / b[i])

// OpenBLAS has cblas_?axpby of its own, with Caffe's meaning.

#endif  // CAFFE_UTIL_MKL_ALTERNATE_H_
