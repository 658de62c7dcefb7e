#ifndef CAFFE_SRC_CPU_PIECEWISE_HPP_
#define CAFFE_SRC_CPU_PIECEWISE_HPP_

#include <cstdint>

#include "cpu/channels.hpp"

// Functions of every value that are straight lines but for their kinks, and
// their gradients, as in cpu/activations.hpp.
namespace caffe::cpu {

// out = |in|; reads which of `in` are positive and which of `out` are zero.
template <typename Dtype>
void AbsoluteBackward(int64_t n, const Dtype* in, const Dtype* out,
                      const Dtype* out_diff, Dtype* in_diff);

// 1 above the threshold, 0 elsewhere.
template <typename Dtype>
void Threshold(int64_t n, Dtype threshold, const Dtype* in, Dtype* out);

// The nearest value in [lowest, highest].
template <typename Dtype>
void Clip(int64_t n, Dtype lowest, Dtype highest, const Dtype* in, Dtype* out);

// in where it is positive, slopes[c] * in elsewhere. The mask (cpu/mask.hpp)
// gets which were positive.
template <typename Dtype>
void Prelu(const ChannelLayout& layout, const Dtype* slopes, const Dtype* in,
           Dtype* out, unsigned int* mask);
template <typename Dtype>
void PreluBackward(const ChannelLayout& layout, const Dtype* slopes,
                   const unsigned int* mask, const Dtype* out_diff,
                   Dtype* in_diff);
// Adds the gradients of the slopes to slope_diffs.
template <typename Dtype>
void PreluSlopesBackward(const ChannelLayout& layout, const unsigned int* mask,
                         const Dtype* in, const Dtype* out_diff,
                         Dtype* slope_diffs);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_PIECEWISE_HPP_
