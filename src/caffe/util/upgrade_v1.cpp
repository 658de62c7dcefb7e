#include <algorithm>
#include <array>

#include "caffe/util/upgrade_proto.hpp"
#include "util/copy_field.hpp"

// The second format: `layers` with an enum for their type and with names,
// learning rates and decays in lists of their own.

namespace caffe {

namespace {

using google::protobuf::FieldDescriptor;

struct TypeName {
  V1LayerParameter::LayerType type;
  const char* name;
};

constexpr TypeName kTypeNames[] = {
    {V1LayerParameter::NONE, ""},
    {V1LayerParameter::ABSVAL, "AbsVal"},
    {V1LayerParameter::ACCURACY, "Accuracy"},
    {V1LayerParameter::ARGMAX, "ArgMax"},
    {V1LayerParameter::BNLL, "BNLL"},
    {V1LayerParameter::CONCAT, "Concat"},
    {V1LayerParameter::CONTRASTIVE_LOSS, "ContrastiveLoss"},
    {V1LayerParameter::CONVOLUTION, "Convolution"},
    {V1LayerParameter::DATA, "Data"},
    {V1LayerParameter::DECONVOLUTION, "Deconvolution"},
    {V1LayerParameter::DROPOUT, "Dropout"},
    {V1LayerParameter::DUMMY_DATA, "DummyData"},
    {V1LayerParameter::ELTWISE, "Eltwise"},
    {V1LayerParameter::EUCLIDEAN_LOSS, "EuclideanLoss"},
    {V1LayerParameter::EXP, "Exp"},
    {V1LayerParameter::FLATTEN, "Flatten"},
    {V1LayerParameter::HDF5_DATA, "HDF5Data"},
    {V1LayerParameter::HDF5_OUTPUT, "HDF5Output"},
    {V1LayerParameter::HINGE_LOSS, "HingeLoss"},
    {V1LayerParameter::IM2COL, "Im2col"},
    {V1LayerParameter::IMAGE_DATA, "ImageData"},
    {V1LayerParameter::INFOGAIN_LOSS, "InfogainLoss"},
    {V1LayerParameter::INNER_PRODUCT, "InnerProduct"},
    {V1LayerParameter::LRN, "LRN"},
    {V1LayerParameter::MEMORY_DATA, "MemoryData"},
    {V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS, "MultinomialLogisticLoss"},
    {V1LayerParameter::MVN, "MVN"},
    {V1LayerParameter::POOLING, "Pooling"},
    {V1LayerParameter::POWER, "Power"},
    {V1LayerParameter::RELU, "ReLU"},
    {V1LayerParameter::SIGMOID, "Sigmoid"},
    {V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS, "SigmoidCrossEntropyLoss"},
    {V1LayerParameter::SILENCE, "Silence"},
    {V1LayerParameter::SLICE, "Slice"},
    {V1LayerParameter::SOFTMAX, "Softmax"},
    {V1LayerParameter::SOFTMAX_LOSS, "SoftmaxWithLoss"},
    {V1LayerParameter::SPLIT, "Split"},
    {V1LayerParameter::TANH, "TanH"},
    {V1LayerParameter::THRESHOLD, "Threshold"},
    {V1LayerParameter::WINDOW_DATA, "WindowData"},
};

constexpr std::array kMovedToTransformParam = {"scale", "mean_file",
                                               "crop_size", "mirror"};

// The field with a data layer's own settings; null for other layers.
const FieldDescriptor* DataParam(const V1LayerParameter& layer) {
  const char* const name =
      layer.type() == V1LayerParameter::DATA          ? "data_param"
      : layer.type() == V1LayerParameter::IMAGE_DATA  ? "image_data_param"
      : layer.type() == V1LayerParameter::WINDOW_DATA ? "window_data_param"
                                                      : "";
  return V1LayerParameter::descriptor()->FindFieldByName(name);
}

// The settings that belong to transform_param today.
vector<const FieldDescriptor*> OldTransformations(
    const V1LayerParameter& layer) {
  vector<const FieldDescriptor*> old;
  const FieldDescriptor* const param = DataParam(layer);
  if (param == nullptr) return old;
  for (const FieldDescriptor* const field :
       FieldsThatAreSet(layer.GetReflection()->GetMessage(layer, param))) {
    if (std::count(kMovedToTransformParam.begin(), kMovedToTransformParam.end(),
                   field->name()) > 0) {
      old.push_back(field);
    }
  }
  return old;
}

ParamSpec* Spec(LayerParameter* layer, int index) {
  while (layer->param_size() <= index) layer->add_param();
  return layer->mutable_param(index);
}

// What each of the blobs had in a list of its own.
void CopyParamSpecs(const V1LayerParameter& from, LayerParameter* to) {
  for (int i = 0; i < from.param_size(); ++i) {
    Spec(to, i)->set_name(from.param(i));
  }
  for (int i = 0; i < from.blob_share_mode_size(); ++i) {
    const bool strict = from.blob_share_mode(i) == V1LayerParameter::STRICT;
    Spec(to, i)->set_share_mode(strict ? ParamSpec::STRICT
                                       : ParamSpec::PERMISSIVE);
  }
  for (int i = 0; i < from.blobs_lr_size(); ++i) {
    Spec(to, i)->set_lr_mult(from.blobs_lr(i));
  }
  for (int i = 0; i < from.weight_decay_size(); ++i) {
    Spec(to, i)->set_decay_mult(from.weight_decay(i));
  }
}

// Whether both formats have the field under its name and with its type.
bool IsUnchanged(const FieldDescriptor& field) {
  const FieldDescriptor* const today =
      LayerParameter::descriptor()->FindFieldByName(field.name());
  return today != nullptr && today->type() == field.type() &&
         today->message_type() == field.message_type();
}

}  // namespace

bool NetNeedsDataUpgrade(const NetParameter& net_param) {
  return std::any_of(net_param.layers().begin(), net_param.layers().end(),
                     [](const V1LayerParameter& layer) {
                       return !OldTransformations(layer).empty();
                     });
}

void UpgradeNetDataTransformation(NetParameter* net_param) {
  for (V1LayerParameter& layer : *net_param->mutable_layers()) {
    for (const FieldDescriptor* const field : OldTransformations(layer)) {
      google::protobuf::Message* const param =
          layer.GetReflection()->MutableMessage(&layer, DataParam(layer));
      CopyField(*param, *field, layer.mutable_transform_param(), field->name());
      param->GetReflection()->ClearField(param, field);
    }
  }
}

bool NetNeedsV1ToV2Upgrade(const NetParameter& net_param) {
  return net_param.layers_size() > 0;
}

bool UpgradeV1Net(const NetParameter& v1_net_param, NetParameter* net_param) {
  bool complete = v1_net_param.layer_size() == 0;
  LOG_IF(ERROR, !complete)
      << "A net with both 'layers' and 'layer' was given: the latter are lost";
  net_param->CopyFrom(v1_net_param);
  net_param->clear_layers();
  net_param->clear_layer();
  for (const V1LayerParameter& layer : v1_net_param.layers()) {
    complete =
        UpgradeV1LayerParameter(layer, net_param->add_layer()) && complete;
  }
  return complete;
}

bool UpgradeV1LayerParameter(const V1LayerParameter& v1_layer_param,
                             LayerParameter* layer_param) {
  layer_param->Clear();
  if (v1_layer_param.has_type()) {
    layer_param->set_type(UpgradeV1LayerType(v1_layer_param.type()));
  }
  CopyParamSpecs(v1_layer_param, layer_param);
  for (const FieldDescriptor* const field : FieldsThatAreSet(v1_layer_param)) {
    if (!IsUnchanged(*field)) continue;
    CopyField(v1_layer_param, *field, layer_param, field->name());
  }
  LOG_IF(ERROR, v1_layer_param.has_layer())
      << "Layer '" << v1_layer_param.name()
      << "' still has settings in V0 format: they are lost";
  return !v1_layer_param.has_layer();
}

const char* UpgradeV1LayerType(const V1LayerParameter_LayerType type) {
  const auto* const found = std::find_if(
      std::begin(kTypeNames), std::end(kTypeNames),
      [type](const TypeName& entry) { return entry.type == type; });
  CHECK(found != std::end(kTypeNames))
      << "Unknown V1LayerParameter type " << static_cast<int>(type);
  return found->name;
}

}  // namespace caffe
