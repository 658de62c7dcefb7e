#include "compress/layer_weights.hpp"

#include <algorithm>
#include <climits>

namespace caffe {

namespace {

// Multiplications with a value that Backward reads, below which packing it
// densely would take longer than the layer.
constexpr double kCheapProducts = 1024;

// Layers whose weights' gradient is made of the bottom's values and the top's
// gradient, and the axis of the top along which the weights' outputs lie.
int OutputAxis(const string& type) {
  if (type == "Convolution" || type == "Deconvolution") return 1;
  if (type == "InnerProduct") return -1;
  if (type == "Scale") return 1;
  return INT_MIN;
}

template <typename Dtype>
bool HasWeights(const Net<Dtype>& net, int layer) {
  Layer<Dtype>& it = *net.layers()[layer];
  return OutputAxis(it.type()) != INT_MIN && !it.blobs().empty() &&
         it.param_propagate_down(0);
}

// Products with each value of the bottom: all there are over all values.
template <typename Dtype>
double ProductsPerValue(const Net<Dtype>& net, int layer) {
  if (!HasWeights(net, layer)) return 1;
  const Blob<Dtype>& bottom = *net.bottom_vecs()[layer][0];
  const Blob<Dtype>& top = *net.top_vecs()[layer][0];
  const Blob<Dtype>& weights = *net.layers()[layer]->blobs()[0];
  const double per_output =
      static_cast<double>(weights.count()) / std::max(1, weights.shape(0));
  return per_output * top.count() / std::max(1, bottom.count());
}

}  // namespace

template <typename Dtype>
int OutputChannels(const Net<Dtype>& net, int layer) {
  return net.top_vecs()[layer][0]->shape(
      OutputAxis(net.layers()[layer]->type()));
}

template <typename Dtype>
std::vector<BoundPolicy::LayerInfo> LayerInfosOf(const Net<Dtype>& net) {
  std::vector<BoundPolicy::LayerInfo> infos;
  for (int i = 0; i < static_cast<int>(net.layers().size()); ++i) {
    const LayerParameter& param = net.layers()[i]->layer_param();
    BoundPolicy::LayerInfo info;
    info.name = param.name();
    info.own = param.compression_param();
    info.is_cheap = ProductsPerValue(net, i) < kCheapProducts;
    info.is_assessed = HasWeights(net, i);
    if (info.own.has_codec() && info.own.codec() != "none") {
      codec::FindCodec(info.own.codec());
    }
    infos.push_back(info);
  }
  return infos;
}

template <typename Dtype>
int WeightsId(const Net<Dtype>& net, int layer) {
  if (!HasWeights(net, layer)) return -1;
  const SyncedMemory* const weights =
      net.layers()[layer]->blobs()[0]->data().get();
  const vector<Blob<Dtype>*>& params = net.learnable_params();
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i]->data().get() == weights) return static_cast<int>(i);
  }
  return -1;
}

template int OutputChannels(const Net<float>& net, int layer);
template int OutputChannels(const Net<double>& net, int layer);
template int WeightsId(const Net<float>& net, int layer);
template int WeightsId(const Net<double>& net, int layer);
template std::vector<BoundPolicy::LayerInfo> LayerInfosOf(
    const Net<float>& net);
template std::vector<BoundPolicy::LayerInfo> LayerInfosOf(
    const Net<double>& net);

}  // namespace caffe
