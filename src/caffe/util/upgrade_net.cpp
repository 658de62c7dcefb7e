#include <algorithm>

#include "caffe/util/io.hpp"
#include "caffe/util/upgrade_proto.hpp"

namespace caffe {

namespace {

// Dimensions that every input had before there were shapes.
constexpr int kOldAxes = 4;
// Mean, variance and their weight.
constexpr int kBatchNormStatistics = 3;

// Calls upgrade(old, net) with what was in the net before.
template <typename Upgrade>
bool Replace(NetParameter* net, const Upgrade& upgrade) {
  NetParameter old;
  old.Swap(net);
  return upgrade(old, net);
}

struct Step {
  const char* what;
  bool (*is_needed)(const NetParameter&);
  bool (*upgrade)(NetParameter*);
};

// In this order: each expects what those before it leave.
constexpr Step kSteps[] = {
    {"V0 layers", NetNeedsV0ToV1Upgrade,
     [](NetParameter* net) { return Replace(net, UpgradeV0Net); }},
    {"data transformation fields", NetNeedsDataUpgrade,
     [](NetParameter* net) {
       UpgradeNetDataTransformation(net);
       return true;
     }},
    {"V1 layers", NetNeedsV1ToV2Upgrade,
     [](NetParameter* net) { return Replace(net, UpgradeV1Net); }},
    {"input fields", NetNeedsInputUpgrade,
     [](NetParameter* net) {
       UpgradeNetInput(net);
       return true;
     }},
    {"batch norm statistics", NetNeedsBatchNormUpgrade,
     [](NetParameter* net) {
       UpgradeNetBatchNorm(net);
       return true;
     }},
};

bool LearnsStatistics(const LayerParameter& layer) {
  return layer.type() == "BatchNorm" &&
         layer.param_size() == kBatchNormStatistics &&
         std::any_of(layer.param().begin(), layer.param().end(),
                     [](const ParamSpec& spec) {
                       return spec.lr_mult() != 0 || spec.decay_mult() != 0;
                     });
}

}  // namespace

bool NetNeedsUpgrade(const NetParameter& net_param) {
  return std::any_of(
      std::begin(kSteps), std::end(kSteps),
      [&](const Step& step) { return step.is_needed(net_param); });
}

bool UpgradeNetAsNeeded(const string& param_file, NetParameter* param) try {
  bool complete = true;
  for (const Step& step : kSteps) {
    if (!step.is_needed(*param)) continue;
    LOG(INFO) << "Upgrading " << step.what << " of " << param_file;
    const bool done = step.upgrade(param);
    LOG_IF(WARNING, !done) << param_file << " could not be upgraded in full: "
                           << "see the errors above";
    complete = done && complete;
  }
  return complete;
} catch (const Error& error) {
  Fail(param_file, ": ", error.what());
}

void ReadNetParamsFromTextFileOrDie(const string& param_file,
                                    NetParameter* param) {
  ReadProtoFromTextFileOrDie(param_file, param);
  UpgradeNetAsNeeded(param_file, param);
}

void ReadNetParamsFromBinaryFileOrDie(const string& param_file,
                                      NetParameter* param) {
  ReadProtoFromBinaryFileOrDie(param_file, param);
  UpgradeNetAsNeeded(param_file, param);
}

bool NetNeedsInputUpgrade(const NetParameter& net_param) {
  return net_param.input_size() > 0;
}

// Inputs without any shape are dropped: weights files have them.
void UpgradeNetInput(NetParameter* net_param) {
  const NetParameter& net = *net_param;
  const int inputs = net.input_size();
  const bool has_shapes = net.input_shape_size() > 0;
  if (has_shapes || net.input_dim_size() > 0) {
    Require(!has_shapes || net.input_shape_size() == inputs, "the net has ",
            inputs, " input(s) but ", net.input_shape_size(),
            " input_shape(s)");
    Require(has_shapes || net.input_dim_size() == kOldAxes * inputs,
            "the net has ", inputs, " input(s) but ", net.input_dim_size(),
            " input_dim(s) instead of ", kOldAxes, " for each");
    LayerParameter layer;
    layer.set_name("input");
    layer.set_type("Input");
    *layer.mutable_top() = net.input();
    for (int i = 0; i < inputs; ++i) {
      BlobShape* const shape = layer.mutable_input_param()->add_shape();
      if (has_shapes) {
        *shape = net.input_shape(i);
        continue;
      }
      for (int axis = 0; axis < kOldAxes; ++axis) {
        shape->add_dim(net.input_dim(kOldAxes * i + axis));
      }
    }
    *net_param->add_layer() = layer;
    auto* const layers = net_param->mutable_layer();
    std::rotate(layers->pointer_begin(), layers->pointer_end() - 1,
                layers->pointer_end());
  }
  net_param->clear_input();
  net_param->clear_input_shape();
  net_param->clear_input_dim();
}

bool NetNeedsBatchNormUpgrade(const NetParameter& net_param) {
  return std::any_of(net_param.layer().begin(), net_param.layer().end(),
                     LearnsStatistics);
}

// Names stay: statistics may be shared.
void UpgradeNetBatchNorm(NetParameter* net_param) {
  for (LayerParameter& layer : *net_param->mutable_layer()) {
    if (!LearnsStatistics(layer)) continue;
    for (ParamSpec& spec : *layer.mutable_param()) {
      spec.set_lr_mult(0);
      spec.set_decay_mult(0);
    }
  }
}

}  // namespace caffe
