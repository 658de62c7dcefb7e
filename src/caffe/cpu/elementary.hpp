#ifndef CAFFE_SRC_CPU_ELEMENTARY_HPP_
#define CAFFE_SRC_CPU_ELEMENTARY_HPP_

#include <cstdint>

#include "cpu/engine.hpp"

// Elementary functions of all values of an array, in the calling thread.
namespace caffe::cpu {

enum class Elementary {
  kExp,
  // e^x - 1, exact also near zero.
  kExpm1,
  kLog,
  // 1 / (1 + e^-x).
  kSigmoid,
  // log(1 + e^x).
  kSoftplus,
  kTanh,
};

// out = function(in), also for infinite values; what is not a number stays so.
// The reference takes the functions from the standard library. `out` may be
// `in`.
template <typename Dtype>
void Apply(Elementary function, Kernels kernels, int64_t n, const Dtype* in,
           Dtype* out);

// out = in to the power of -exponent, for positive values. `out` may be `in`.
template <typename Dtype>
void NegativePower(int64_t n, Dtype exponent, const Dtype* in, Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ELEMENTARY_HPP_
