#ifndef CAFFE_SRC_CPU_SOFTMAX_HPP_
#define CAFFE_SRC_CPU_SOFTMAX_HPP_

#include <cstdint>

// Softmax over the middle axis of (outer, channels, inner) arrays. Results do
// not depend on the number of threads.
namespace caffe::cpu {

// The maximum is subtracted first, so large scores do not overflow. `out` may
// be `in`.
template <typename Dtype>
void Softmax(int64_t outer, int64_t channels, int64_t inner, const Dtype* in,
             Dtype* out);

// in_diff = out * (out_diff - sum over channels of out * out_diff). `in_diff`
// may be `out_diff`.
template <typename Dtype>
void SoftmaxBackward(int64_t outer, int64_t channels, int64_t inner,
                     const Dtype* out, const Dtype* out_diff, Dtype* in_diff);

// Sum of -log(probability of the label) over the outer x inner positions;
// probabilities below `smallest` count as that. A negative label leaves its
// position out; others must be below `channels`.
template <typename Dtype>
double CrossEntropy(int64_t outer, int64_t channels, int64_t inner,
                    const Dtype* probabilities, const int* labels,
                    Dtype smallest);

// The gradient of scale * CrossEntropy(Softmax(scores)) by the scores: scale *
// (probability - [channel is the label]), and zero where there is no label.
template <typename Dtype>
void CrossEntropyBackward(int64_t outer, int64_t channels, int64_t inner,
                          const Dtype* probabilities, const int* labels,
                          Dtype scale, Dtype* diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_SOFTMAX_HPP_
