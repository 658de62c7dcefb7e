#ifndef CAFFE_SRC_CPU_BATCH_NORM_REFERENCE_HPP_
#define CAFFE_SRC_CPU_BATCH_NORM_REFERENCE_HPP_

#include "cpu/channels.hpp"

// batch_norm.hpp by its definitions, in double, one channel after the other.
namespace caffe::cpu {

template <typename Dtype>
void BatchNormForwardReference(const ChannelLayout& layout, Dtype eps,
                               const Dtype* in, Dtype* mean, Dtype* variance,
                               Dtype* out, Dtype* copy);

template <typename Dtype>
void BatchNormBackwardReference(const ChannelLayout& layout, const Dtype* in,
                                const Dtype* mean, const Dtype* deviation,
                                const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_BATCH_NORM_REFERENCE_HPP_
