#ifndef CAFFE_SRC_CPU_LRN_REFERENCE_HPP_
#define CAFFE_SRC_CPU_LRN_REFERENCE_HPP_

#include "cpu/lrn.hpp"

// lrn.hpp by its definitions, in double, value by value.
namespace caffe::cpu {

enum class LrnRegion { kAcrossChannels, kWithinChannel };

template <typename Dtype>
void LrnReference(LrnRegion region, const LrnShape& shape,
                  const LrnSettings<Dtype>& settings, const Dtype* in,
                  Dtype* out);

template <typename Dtype>
void LrnBackwardReference(LrnRegion region, const LrnShape& shape,
                          const LrnSettings<Dtype>& settings, const Dtype* in,
                          const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_LRN_REFERENCE_HPP_
