#ifndef CAFFE_SRC_CPU_CHANNEL_SUMS_HPP_
#define CAFFE_SRC_CPU_CHANNEL_SUMS_HPP_

#include "cpu/channels.hpp"

// Sums over the values of every channel in [begin, end), added to what is
// there already, which has index 0 for the first channel. They are exact to
// about the rounding of one value, and read their arrays once.
namespace caffe::cpu {

// Of the distances in - center[c] and of their squares; center[0] is the first
// channel's.
template <typename Dtype>
void AddDistances(const ChannelLayout& layout, int64_t begin, int64_t end,
                  const Dtype* in, const Dtype* center, double* sums,
                  double* squares);

// Of `diff`, and of diff * (in - center[c]).
template <typename Dtype>
void AddProducts(const ChannelLayout& layout, int64_t begin, int64_t end,
                 const Dtype* diff, const Dtype* in, const Dtype* center,
                 double* sums, double* products);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_CHANNEL_SUMS_HPP_
