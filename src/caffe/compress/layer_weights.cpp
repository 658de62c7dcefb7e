#include "compress/layer_weights.hpp"

#include <algorithm>

namespace caffe {

namespace {

// Multiplications with a value that Backward reads, below which packing it
// densely would take longer than the layer.
constexpr double kCheapProducts = 1024;

// Layers whose weights' gradient is made of the bottom's values and the top's
// gradient: those in which a weight meets every value of its channel once, ...
bool IsElementwise(const string& type) {
  return type == "Scale" || type == "PReLU";
}

// ... and those in which an output takes many products.
bool IsProduct(const string& type) {
  return type == "Convolution" || type == "Deconvolution" ||
         type == "InnerProduct";
}

template <typename Dtype>
bool HasWeights(const Net<Dtype>& net, int layer) {
  Layer<Dtype>& it = *net.layers()[layer];
  return (IsElementwise(it.type()) || IsProduct(it.type())) &&
         !it.blobs().empty() && it.param_propagate_down(0);
}

// Products with each value of the bottom: all there are over all values.
template <typename Dtype>
double ProductsPerValue(const Net<Dtype>& net, int layer) {
  if (!HasWeights(net, layer)) return 1;
  if (IsElementwise(net.layers()[layer]->type())) return 1;
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
  const string type = net.layers()[layer]->type();
  // PReLU's slopes only meet what is below zero, so that their errors are
  // smaller than this makes believe: by a root of 2, if that is half of it.
  if (IsElementwise(type)) return net.layers()[layer]->blobs()[0]->count();
  return net.top_vecs()[layer][0]->shape(type == "InnerProduct" ? -1 : 1);
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
