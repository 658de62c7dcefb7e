#ifndef CAFFE_SRC_COMPRESS_LAYER_WEIGHTS_HPP_
#define CAFFE_SRC_COMPRESS_LAYER_WEIGHTS_HPP_

#include <vector>

#include "caffe/compress/bound_policy.hpp"
#include "caffe/net.hpp"

// Which layers of a net make the gradient of weights out of activations, and
// how.

namespace caffe {

// Over how many channels of a layer's top its weights' outputs lie.
// REQUIRES: the layer is one of them.
template <typename Dtype>
int OutputChannels(const Net<Dtype>& net, int layer);

// The index of a layer's weights among the learnable parameters; -1 for layers
// without.
template <typename Dtype>
int WeightsId(const Net<Dtype>& net, int layer);

// What a policy knows of the net's layers. Throws Error for settings of theirs
// that name no codec.
template <typename Dtype>
std::vector<BoundPolicy::LayerInfo> LayerInfosOf(const Net<Dtype>& net);

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_LAYER_WEIGHTS_HPP_
