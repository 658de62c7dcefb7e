#ifndef CAFFE_SRC_CPU_SCALE_HPP_
#define CAFFE_SRC_CPU_SCALE_HPP_

#include "cpu/channels.hpp"

// Multiplication of every channel with a number of its own, and addition of
// another. Results do not depend on the number of threads.
namespace caffe::cpu {

// out = factors[c] * in + offsets[c]; either may be nullptr and is then left
// out. `out` may be `in`; `copy` gets the values of `in`, or is nullptr.
template <typename Dtype>
void ScaleForward(const ChannelLayout& layout, const Dtype* in,
                  const Dtype* factors, const Dtype* offsets, Dtype* out,
                  Dtype* copy);

// Where the gradients go that are wanted; the others are nullptr. That of the
// input overwrites what was there and may be out_diff, those of factors and
// offsets are added to it.
template <typename Dtype>
struct ScaleGradients {
  Dtype* in = nullptr;
  Dtype* factors = nullptr;
  Dtype* offsets = nullptr;
};

// `in` is read for the gradient of the factors only, and may be nullptr
// otherwise; so may `factors` when there are none.
template <typename Dtype>
void ScaleBackward(const ChannelLayout& layout, const Dtype* in,
                   const Dtype* factors, const Dtype* out_diff,
                   const ScaleGradients<Dtype>& gradients);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_SCALE_HPP_
