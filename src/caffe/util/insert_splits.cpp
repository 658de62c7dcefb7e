#include "caffe/util/insert_splits.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "caffe/error.hpp"
#include "naming.hpp"

namespace caffe {

namespace {

// One top of one layer, and who uses it.
struct Top {
  std::string layer_name;
  int index_in_layer = 0;
  int uses = 0;
  int uses_named = 0;  // copies that are taken already
  float loss_weight = 0;
};

// The tops of a net, and which of them every bottom means: in an in-place
// chain the same name stands for one top after the other.
struct Wiring {
  std::vector<Top> tops;
  std::vector<std::vector<int>> bottoms_of_layer;  // indices into tops
  std::vector<std::vector<int>> tops_of_layer;
};

Wiring Trace(const NetParameter& net) {
  Wiring wiring;
  std::map<std::string, int> newest;  // top that a name stands for
  for (const LayerParameter& layer : net.layer()) {
    std::vector<int>& bottoms = wiring.bottoms_of_layer.emplace_back();
    for (int i = 0; i < layer.bottom_size(); ++i) {
      const auto found = newest.find(layer.bottom(i));
      Require(found != newest.end(), LayerTitle(layer),
              ": unknown bottom blob '", layer.bottom(i), "' (bottom index ", i,
              "): no layer before makes it");
      bottoms.push_back(found->second);
      ++wiring.tops[found->second].uses;
    }
    std::vector<int>& tops = wiring.tops_of_layer.emplace_back();
    for (int i = 0; i < layer.top_size(); ++i) {
      tops.push_back(static_cast<int>(wiring.tops.size()));
      newest[layer.top(i)] = tops.back();
      Top& top = wiring.tops.emplace_back();
      top.layer_name = layer.name();
      top.index_in_layer = i;
      if (i < layer.loss_weight_size() && layer.loss_weight(i) != 0) {
        top.loss_weight = layer.loss_weight(i);
        ++top.uses;
      }
    }
  }
  return wiring;
}

// Takes the weight from a layer whose Split now has it.
void MoveLossWeight(int top_index, LayerParameter* layer) {
  layer->set_loss_weight(top_index, 0);
  const auto& left = layer->loss_weight();
  if (std::all_of(left.begin(), left.end(), [](float w) { return w == 0; })) {
    layer->clear_loss_weight();
  }
}

}  // namespace

void InsertSplits(const NetParameter& param, NetParameter* param_split) {
  Wiring wiring = Trace(param);
  param_split->CopyFrom(param);
  param_split->clear_layer();
  for (int l = 0; l < param.layer_size(); ++l) {
    LayerParameter layer = param.layer(l);
    for (int i = 0; i < layer.bottom_size(); ++i) {
      Top& top = wiring.tops[wiring.bottoms_of_layer[l][i]];
      if (top.uses < 2) continue;
      layer.set_bottom(i, SplitBlobName(top.layer_name, layer.bottom(i),
                                        top.index_in_layer, top.uses_named++));
    }
    std::vector<LayerParameter> splits;
    for (int i = 0; i < layer.top_size(); ++i) {
      Top& top = wiring.tops[wiring.tops_of_layer[l][i]];
      if (top.uses < 2) continue;
      ConfigureSplitLayer(layer.name(), layer.top(i), i, top.uses,
                          top.loss_weight, &splits.emplace_back());
      if (top.loss_weight != 0) {
        MoveLossWeight(i, &layer);
        ++top.uses_named;
      }
    }
    *param_split->add_layer() = layer;
    for (const LayerParameter& split : splits) {
      *param_split->add_layer() = split;
    }
  }
}

void ConfigureSplitLayer(const std::string& layer_name,
                         const std::string& blob_name, const int blob_idx,
                         const int split_count, const float loss_weight,
                         LayerParameter* split_layer_param) {
  split_layer_param->Clear();
  split_layer_param->set_name(SplitLayerName(layer_name, blob_name, blob_idx));
  split_layer_param->set_type("Split");
  split_layer_param->add_bottom(blob_name);
  for (int k = 0; k < split_count; ++k) {
    split_layer_param->add_top(
        SplitBlobName(layer_name, blob_name, blob_idx, k));
    if (loss_weight != 0) {
      split_layer_param->add_loss_weight(k == 0 ? loss_weight : 0);
    }
  }
}

std::string SplitLayerName(const std::string& layer_name,
                           const std::string& blob_name, const int blob_idx) {
  return Concat(blob_name, "_", layer_name, "_", blob_idx, "_split");
}

std::string SplitBlobName(const std::string& layer_name,
                          const std::string& blob_name, const int blob_idx,
                          const int split_idx) {
  return Concat(SplitLayerName(layer_name, blob_name, blob_idx), "_",
                split_idx);
}

}  // namespace caffe
