#ifndef CAFFE_SRC_CPU_BATCH_NORM_HPP_
#define CAFFE_SRC_CPU_BATCH_NORM_HPP_

#include "cpu/channels.hpp"

// Normalization of every channel to mean 0 and variance 1. Results do not
// depend on the number of threads.
namespace caffe::cpu {

// The mean and variance of every channel.
template <typename Dtype>
void ChannelMoments(const ChannelLayout& layout, const Dtype* in, Dtype* mean,
                    Dtype* variance);

// The mean and variance of every channel, and the values normalized with them:
// out = (in - mean) / sqrt(variance + eps). `out` may be `in`; `copy` gets the
// same as `out`, or is nullptr.
template <typename Dtype>
void BatchNormForward(const ChannelLayout& layout, Dtype eps, const Dtype* in,
                      Dtype* mean, Dtype* variance, Dtype* out, Dtype* copy);

// The same for values that come in parts, after ChannelMoments of all of them:
// out = (in - mean) * factor with the factors that BatchNormFactors gives.
template <typename Dtype>
void BatchNormFactors(int64_t channels, Dtype eps, const Dtype* variance,
                      Dtype* factors);
template <typename Dtype>
void BatchNormApply(const ChannelLayout& layout, const Dtype* in,
                    const Dtype* mean, const Dtype* factors, Dtype* out,
                    Dtype* copy);

// out = (in - mean) / deviation. `out` may be `in`.
template <typename Dtype>
void Normalize(const ChannelLayout& layout, const Dtype* in, const Dtype* mean,
               const Dtype* deviation, Dtype* out);

// The gradient of BatchNormForward, whose mean and variance are functions of
// its input. With x = (in - mean) / deviation, the normalized values, and means
// taken over the channel:
//   in_diff = (out_diff - mean(out_diff) - x * mean(x * out_diff)) / deviation.
// When `mean` is nullptr, `in` already is x. `in_diff` may be `out_diff`.
template <typename Dtype>
void BatchNormBackward(const ChannelLayout& layout, const Dtype* in,
                       const Dtype* mean, const Dtype* deviation,
                       const Dtype* out_diff, Dtype* in_diff);

// The same in two steps: what all parts add to sums over the channels, then the
// gradient of a part. `values` counts those of a channel in all parts.
template <typename Dtype>
void AddBatchNormSums(const ChannelLayout& layout, const Dtype* in,
                      const Dtype* mean, const Dtype* out_diff, double* sums,
                      double* products);
template <typename Dtype>
void BatchNormBackwardWithSums(const ChannelLayout& layout, int64_t values,
                               const double* sums, const double* products,
                               const Dtype* in, const Dtype* mean,
                               const Dtype* deviation, const Dtype* out_diff,
                               Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_BATCH_NORM_HPP_
