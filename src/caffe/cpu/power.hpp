#ifndef CAFFE_SRC_CPU_POWER_HPP_
#define CAFFE_SRC_CPU_POWER_HPP_

#include <cstdint>

namespace caffe::cpu {

// out = in to the power of -exponent, for positive values, in the calling
// thread. `out` may be `in`.
template <typename Dtype>
void NegativePower(int64_t n, Dtype exponent, const Dtype* in, Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_POWER_HPP_
