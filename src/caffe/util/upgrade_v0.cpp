#include <algorithm>
#include <map>

#include "caffe/util/upgrade_proto.hpp"
#include "util/copy_field.hpp"

// The first format: all settings of all layer types in one message, the type a
// string, padding a layer of its own.

namespace caffe {

namespace {

constexpr char kPadding[] = "padding";

// Where a field of the old message goes. `type` is the old type of the layer
// that has it, or null where all types do.
struct Move {
  const char* field;
  const char* type;
  const char* destination;
};

constexpr Move kMoves[] = {
    {"name", nullptr, "name"},
    {"blobs", nullptr, "blobs"},
    {"blobs_lr", nullptr, "blobs_lr"},
    {"weight_decay", nullptr, "weight_decay"},
    {"num_output", "conv", "convolution_param.num_output"},
    {"num_output", "innerproduct", "inner_product_param.num_output"},
    {"biasterm", "conv", "convolution_param.bias_term"},
    {"biasterm", "innerproduct", "inner_product_param.bias_term"},
    {"weight_filler", "conv", "convolution_param.weight_filler"},
    {"weight_filler", "innerproduct", "inner_product_param.weight_filler"},
    {"bias_filler", "conv", "convolution_param.bias_filler"},
    {"bias_filler", "innerproduct", "inner_product_param.bias_filler"},
    {"pad", "conv", "convolution_param.pad"},
    {"pad", "pool", "pooling_param.pad"},
    {"kernelsize", "conv", "convolution_param.kernel_size"},
    {"kernelsize", "pool", "pooling_param.kernel_size"},
    {"group", "conv", "convolution_param.group"},
    {"stride", "conv", "convolution_param.stride"},
    {"stride", "pool", "pooling_param.stride"},
    {"pool", "pool", "pooling_param.pool"},
    {"dropout_ratio", "dropout", "dropout_param.dropout_ratio"},
    {"local_size", "lrn", "lrn_param.local_size"},
    {"alpha", "lrn", "lrn_param.alpha"},
    {"beta", "lrn", "lrn_param.beta"},
    {"k", "lrn", "lrn_param.k"},
    {"source", "data", "data_param.source"},
    {"source", "hdf5_data", "hdf5_data_param.source"},
    {"source", "images", "image_data_param.source"},
    {"source", "window_data", "window_data_param.source"},
    {"source", "infogain_loss", "infogain_loss_param.source"},
    {"scale", nullptr, "transform_param.scale"},
    {"meanfile", nullptr, "transform_param.mean_file"},
    {"cropsize", nullptr, "transform_param.crop_size"},
    {"mirror", nullptr, "transform_param.mirror"},
    {"batchsize", "data", "data_param.batch_size"},
    {"batchsize", "hdf5_data", "hdf5_data_param.batch_size"},
    {"batchsize", "images", "image_data_param.batch_size"},
    {"batchsize", "window_data", "window_data_param.batch_size"},
    {"rand_skip", "data", "data_param.rand_skip"},
    {"rand_skip", "images", "image_data_param.rand_skip"},
    {"shuffle_images", "images", "image_data_param.shuffle"},
    {"new_height", "images", "image_data_param.new_height"},
    {"new_width", "images", "image_data_param.new_width"},
    {"concat_dim", "concat", "concat_param.concat_dim"},
    {"det_fg_threshold", "window_data", "window_data_param.fg_threshold"},
    {"det_bg_threshold", "window_data", "window_data_param.bg_threshold"},
    {"det_fg_fraction", "window_data", "window_data_param.fg_fraction"},
    {"det_context_pad", "window_data", "window_data_param.context_pad"},
    {"det_crop_mode", "window_data", "window_data_param.crop_mode"},
    {"hdf5_output_param", "hdf5_output", "hdf5_output_param"},
};

const Move* FindMove(const string& field, const string& type) {
  const auto* const move =
      std::find_if(std::begin(kMoves), std::end(kMoves), [&](const Move& m) {
        return field == m.field && (m.type == nullptr || type == m.type);
      });
  return move == std::end(kMoves) ? nullptr : move;
}

const std::map<string, V1LayerParameter::LayerType>& LayerTypes() {
  using V1 = V1LayerParameter;
  static const std::map<string, V1::LayerType> types = {
      {"accuracy", V1::ACCURACY},
      {"bnll", V1::BNLL},
      {"concat", V1::CONCAT},
      {"conv", V1::CONVOLUTION},
      {"data", V1::DATA},
      {"dropout", V1::DROPOUT},
      {"euclidean_loss", V1::EUCLIDEAN_LOSS},
      {"flatten", V1::FLATTEN},
      {"hdf5_data", V1::HDF5_DATA},
      {"hdf5_output", V1::HDF5_OUTPUT},
      {"im2col", V1::IM2COL},
      {"images", V1::IMAGE_DATA},
      {"infogain_loss", V1::INFOGAIN_LOSS},
      {"innerproduct", V1::INNER_PRODUCT},
      {"lrn", V1::LRN},
      {"multinomial_logistic_loss", V1::MULTINOMIAL_LOGISTIC_LOSS},
      {"pool", V1::POOLING},
      {"relu", V1::RELU},
      {"sigmoid", V1::SIGMOID},
      {"softmax", V1::SOFTMAX},
      {"softmax_loss", V1::SOFTMAX_LOSS},
      {"split", V1::SPLIT},
      {"tanh", V1::TANH},
      {"window_data", V1::WINDOW_DATA},
  };
  return types;
}

// Lets `layer` read what the padding layer reads, and pad by itself.
void FoldPadding(const V1LayerParameter& padding, V1LayerParameter* layer) {
  const string& name = layer->layer().name();
  const string& type = layer->layer().type();
  Require(type == "conv" || type == "pool", "layer '", name, "' of type '",
          type, "' follows padding layer '", padding.layer().name(),
          "'; only conv and pool can");
  Require(layer->bottom_size() == 1, "layer '", name,
          "' follows a padding layer and can only have one bottom");
  Require(padding.bottom_size() == 1 && padding.top_size() == 1,
          "padding layer '", padding.layer().name(),
          "' does not have one bottom and one top");
  layer->mutable_layer()->set_pad(padding.layer().pad());
  layer->set_bottom(0, padding.bottom(0));
}

}  // namespace

bool NetNeedsV0ToV1Upgrade(const NetParameter& net_param) {
  return std::any_of(
      net_param.layers().begin(), net_param.layers().end(),
      [](const V1LayerParameter& layer) { return layer.has_layer(); });
}

bool UpgradeV0Net(const NetParameter& v0_net_param, NetParameter* net_param) {
  UpgradeV0PaddingLayers(v0_net_param, net_param);
  bool complete = true;
  for (V1LayerParameter& layer : *net_param->mutable_layers()) {
    if (!layer.has_layer()) continue;
    V1LayerParameter old;
    old.Swap(&layer);
    complete = UpgradeV0LayerParameter(old, &layer) && complete;
  }
  return complete;
}

void UpgradeV0PaddingLayers(const NetParameter& param,
                            NetParameter* param_upgraded_pad) {
  param_upgraded_pad->CopyFrom(param);
  param_upgraded_pad->clear_layers();
  std::map<string, const V1LayerParameter*> source_of_blob;
  for (const V1LayerParameter& layer : param.layers()) {
    V1LayerParameter upgraded = layer;
    for (const string& bottom : layer.bottom()) {
      const auto source = source_of_blob.find(bottom);
      if (source == source_of_blob.end()) continue;
      if (source->second->layer().type() == kPadding) {
        FoldPadding(*source->second, &upgraded);
      }
    }
    for (const string& top : layer.top()) source_of_blob[top] = &layer;
    if (layer.layer().type() == kPadding) continue;
    param_upgraded_pad->add_layers()->Swap(&upgraded);
  }
}

bool UpgradeV0LayerParameter(const V1LayerParameter& v0_layer_connection,
                             V1LayerParameter* layer_param) {
  const V0LayerParameter& old = v0_layer_connection.layer();
  layer_param->CopyFrom(v0_layer_connection);
  layer_param->clear_layer();
  if (old.has_type()) layer_param->set_type(UpgradeV0LayerType(old.type()));
  bool complete = true;
  for (const auto* const field : FieldsThatAreSet(old)) {
    if (field->name() == "type") continue;
    const Move* const move = FindMove(field->name(), old.type());
    if (move == nullptr) {
      LOG(ERROR) << "Layer '" << old.name() << "': type '" << old.type()
                 << "' has no parameter " << field->name();
      complete = false;
      continue;
    }
    CopyField(old, *field, layer_param, move->destination);
  }
  return complete;
}

V1LayerParameter_LayerType UpgradeV0LayerType(const string& type) {
  const auto found = LayerTypes().find(type);
  Require(found != LayerTypes().end(), "unknown old layer type '", type, "'");
  return found->second;
}

}  // namespace caffe
