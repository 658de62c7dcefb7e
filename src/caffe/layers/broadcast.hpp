#ifndef CAFFE_SRC_LAYERS_BROADCAST_HPP_
#define CAFFE_SRC_LAYERS_BROADCAST_HPP_

#include <vector>

#include "caffe/blob.hpp"
#include "caffe/filler.hpp"
#include "cpu/channels.hpp"

// What Scale and Bias share: a small blob whose axes are some of a larger one's
// and which is used again and again along its other axes.
namespace caffe {

// The shape of a parameter with `num_axes` of the bottom's axes, from `axis`
// on; -1 means all to the end.
template <typename Dtype>
vector<int> ParameterShape(const Blob<Dtype>& bottom, int axis, int num_axes) {
  const int first = bottom.CanonicalAxisIndex(axis);
  const int rest = bottom.num_axes() - first;
  Require(num_axes >= -1 && num_axes <= rest, "num_axes must be -1 or at most ",
          rest, " with axis ", axis, " of a blob of shape ",
          bottom.shape_string(), ", not ", num_axes);
  const auto begin = bottom.shape().begin() + first;
  return {begin, begin + (num_axes == -1 ? rest : num_axes)};
}

// A new parameter with the values of the filler.
template <typename Dtype>
shared_ptr<Blob<Dtype>> MakeParameter(const vector<int>& shape,
                                      const FillerParameter& filler) {
  auto blob = boost::make_shared<Blob<Dtype>>(shape);
  const std::unique_ptr<Filler<Dtype>> fill(GetFiller<Dtype>(filler));
  fill->Fill(blob.get());
  return blob;
}

// How the bottom looks to `factors`, whose axes are the bottom's from `axis`
// on: all of them together are the channels.
template <typename Dtype>
cpu::ChannelLayout BroadcastLayout(const Blob<Dtype>& bottom,
                                   const Blob<Dtype>& factors, int axis) {
  // A single number fits everywhere.
  const int first =
      factors.num_axes() == 0 ? 0 : bottom.CanonicalAxisIndex(axis);
  const int end = first + factors.num_axes();
  const bool fits = end <= bottom.num_axes() &&
                    std::equal(factors.shape().begin(), factors.shape().end(),
                               bottom.shape().begin() + first);
  Require(fits, "a blob of shape ", factors.shape_string(),
          " does not fit the axes of one of shape ", bottom.shape_string(),
          " from axis ", first, " on");
  return {bottom.count(0, first), factors.count(), bottom.count(end)};
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_BROADCAST_HPP_
