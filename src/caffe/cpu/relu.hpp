#ifndef CAFFE_SRC_CPU_RELU_HPP_
#define CAFFE_SRC_CPU_RELU_HPP_

#include <cstdint>

namespace caffe::cpu {

// out = in where in is positive, slope * in elsewhere. What is not a number
// stays so. `out` may be `in`.
template <typename Dtype>
void Relu(int64_t n, Dtype slope, const Dtype* in, Dtype* out);

// in_diff = out_diff where `signs` is positive, slope * out_diff elsewhere.
// With a slope of 0, `signs` is what came out, or a likeness of it that has its
// zeros but may be on the wrong side of them: out_diff where it is not zero, 0
// elsewhere. `in_diff` may be `out_diff`.
template <typename Dtype>
void ReluBackward(int64_t n, Dtype slope, const Dtype* signs,
                  const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_RELU_HPP_
