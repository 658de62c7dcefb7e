#include <algorithm>

#include "caffe/net.hpp"
#include "caffe/util/insert_splits.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "naming.hpp"

namespace caffe {

namespace {

void LogSettings(NetParameter param) {
  // Weights that come along would drown the settings.
  for (LayerParameter& layer : *param.mutable_layer()) layer.clear_blobs();
  LOG(INFO) << "Initializing net from parameters: \n" << param.DebugString();
}

}  // namespace

template <typename Dtype>
Net<Dtype>::Net(const NetParameter& param) {
  Init(param);
}

template <typename Dtype>
void Net<Dtype>::Init(const NetParameter& in_param) {
  phase_ = in_param.state().phase();
  // Files are upgraded when they are read; this is for nets made in memory.
  NetParameter upgraded = in_param;
  UpgradeNetAsNeeded("the net", &upgraded);
  NetParameter filtered;
  FilterNet(upgraded, &filtered);
  if (Caffe::root_solver()) LogSettings(filtered);
  NetParameter param;
  InsertSplits(filtered, &param);
  name_ = param.name();
  memory_param_ = param.memory();

  set<string> available_blobs;
  map<string, int> blob_name_to_idx;
  for (int i = 0; i < param.layer_size(); ++i) {
    LayerParameter* const layer = param.mutable_layer(i);
    if (!layer->has_phase()) layer->set_phase(phase_);
    NamingLayer(*layer, [&] {
      AppendLayer(param, i, &available_blobs, &blob_name_to_idx);
    });
  }
  PruneBackward();
  if (param.force_backward()) ForceBackward();

  // What nobody read is what the net was built for.
  for (const string& blob_name : available_blobs) {
    LOG_IF(INFO, Caffe::root_solver())
        << "This network produces output " << blob_name;
    const int blob_id = blob_name_to_idx[blob_name];
    net_output_blob_indices_.push_back(blob_id);
    net_output_blobs_.push_back(blobs_[blob_id].get());
  }
  IndexNames();
  ShareWeights();
  LabelMemory();
  debug_info_ = param.debug_info();
  LOG_IF(INFO, Caffe::root_solver()) << "Network initialization done.";
}

template <typename Dtype>
void Net<Dtype>::AppendLayer(const NetParameter& param, const int layer_id,
                             set<string>* available_blobs,
                             map<string, int>* blob_name_to_idx) {
  const LayerParameter& layer_param = param.layer(layer_id);
  layers_.push_back(LayerRegistry<Dtype>::CreateLayer(layer_param));
  layer_names_.push_back(layer_param.name());
  LOG_IF(INFO, Caffe::root_solver()) << "Creating Layer " << layer_param.name();

  const int num_bottom = layer_param.bottom_size();
  const int num_propagate_down = layer_param.propagate_down_size();
  Require(num_propagate_down == 0 || num_propagate_down == num_bottom, "has ",
          num_propagate_down, " propagate_down(s) for ", num_bottom,
          " bottom(s); give one for each bottom or none");
  bottom_vecs_.emplace_back();
  bottom_id_vecs_.emplace_back();
  bottom_need_backward_.emplace_back();
  bool need_backward = false;
  for (int i = 0; i < num_bottom; ++i) {
    const int blob_id =
        AppendBottom(param, layer_id, i, available_blobs, blob_name_to_idx);
    need_backward = need_backward || blob_need_backward_[blob_id];
  }
  top_vecs_.emplace_back();
  top_id_vecs_.emplace_back();
  AppendTops(param, layer_id, available_blobs, blob_name_to_idx);

  Layer<Dtype>* const layer = layers_[layer_id].get();
  layer->SetUp(bottom_vecs_[layer_id], top_vecs_[layer_id]);
  RecordTops(layer_id);

  const bool learns = AppendParams(param, layer_id);
  need_backward = need_backward || learns;
  layer_need_backward_.push_back(need_backward);
  if (!need_backward) return;
  for (const int blob_id : top_id_vecs_[layer_id]) {
    blob_need_backward_[blob_id] = true;
  }
}

template <typename Dtype>
int Net<Dtype>::AppendBottom(const NetParameter& param, const int layer_id,
                             const int bottom_id, set<string>* available_blobs,
                             map<string, int>* blob_name_to_idx) {
  const LayerParameter& layer_param = param.layer(layer_id);
  const string& blob_name = layer_param.bottom(bottom_id);
  // Whoever reads a blob takes it: splits have made a copy for each reader.
  Require(available_blobs->erase(blob_name) == 1, "unknown bottom blob '",
          blob_name, "' (bottom index ", bottom_id, ")");
  const int blob_id = (*blob_name_to_idx)[blob_name];
  LOG_IF(INFO, Caffe::root_solver())
      << layer_names_[layer_id] << " <- " << blob_name;
  bottom_vecs_[layer_id].push_back(blobs_[blob_id].get());
  bottom_id_vecs_[layer_id].push_back(blob_id);
  bottom_need_backward_[layer_id].push_back(
      layer_param.propagate_down_size() > 0
          ? layer_param.propagate_down(bottom_id)
          : blob_need_backward_[blob_id]);
  return blob_id;
}

template <typename Dtype>
void Net<Dtype>::AppendTops(const NetParameter& param, const int layer_id,
                            set<string>* available_blobs,
                            map<string, int>* blob_name_to_idx) {
  const LayerParameter& layer_param = param.layer(layer_id);
  const bool is_input = layer_param.type() == "Input";
  int num_top = 0;
  for (; num_top < layer_param.top_size(); ++num_top) {
    AppendTop(param, layer_id, num_top, available_blobs, blob_name_to_idx);
    if (is_input) {
      net_input_blob_indices_.push_back(top_id_vecs_[layer_id].back());
      net_input_blobs_.push_back(top_vecs_[layer_id].back());
    }
  }
  const Layer<Dtype>& layer = *layers_[layer_id];
  if (!layer.AutoTopBlobs()) return;
  const int needed = std::max(layer.MinTopBlobs(), layer.ExactNumTopBlobs());
  for (; num_top < needed; ++num_top) {
    // No other layer can see these.
    AppendTop(param, layer_id, num_top, nullptr, nullptr);
  }
}

template <typename Dtype>
void Net<Dtype>::AppendTop(const NetParameter& param, const int layer_id,
                           const int top_id, set<string>* available_blobs,
                           map<string, int>* blob_name_to_idx) {
  const LayerParameter& layer_param = param.layer(layer_id);
  const string blob_name = top_id < layer_param.top_size()
                               ? layer_param.top(top_id)
                               : string("(automatic)");
  const bool in_place = blob_name_to_idx != nullptr &&
                        top_id < layer_param.bottom_size() &&
                        blob_name == layer_param.bottom(top_id);
  LOG_IF(INFO, Caffe::root_solver())
      << layer_names_[layer_id] << " -> " << blob_name
      << (in_place ? " (in-place)" : "");
  int blob_id = static_cast<int>(blobs_.size());
  if (in_place) {
    blob_id = (*blob_name_to_idx)[blob_name];
  } else {
    const bool is_new = blob_name_to_idx == nullptr ||
                        blob_name_to_idx->emplace(blob_name, blob_id).second;
    Require(is_new, "top blob '", blob_name, "' (top index ", top_id,
            ") has the name of an earlier blob; only a layer that works in "
            "place may use it again: the only reader of that blob, with the "
            "name at the same index among its bottoms");
    blobs_.emplace_back(new Blob<Dtype>());
    blob_names_.push_back(blob_name);
    blob_need_backward_.push_back(false);
    blob_loss_weights_.push_back(Dtype(0));
  }
  top_vecs_[layer_id].push_back(blobs_[blob_id].get());
  top_id_vecs_[layer_id].push_back(blob_id);
  if (available_blobs != nullptr) available_blobs->insert(blob_name);
}

template <typename Dtype>
void Net<Dtype>::RecordTops(const int layer_id) {
  LOG_IF(INFO, Caffe::root_solver()) << "Setting up " << layer_names_[layer_id];
  for (size_t i = 0; i < top_vecs_[layer_id].size(); ++i) {
    const Blob<Dtype>& top = *top_vecs_[layer_id][i];
    const Dtype loss_weight = layers_[layer_id]->loss(i);
    blob_loss_weights_[top_id_vecs_[layer_id][i]] = loss_weight;
    memory_used_ += top.count() * sizeof(Dtype);
    if (!Caffe::root_solver()) continue;
    LOG(INFO) << "Top shape: " << top.shape_string();
    if (loss_weight != 0) LOG(INFO) << "    with loss weight " << loss_weight;
  }
  LOG_IF(INFO, Caffe::root_solver())
      << "Memory required for data: " << memory_used_;
}

template <typename Dtype>
void Net<Dtype>::LabelMemory() {
  // What several share is named after the first.
  for (size_t i = blobs_.size(); i-- > 0;) {
    blobs_[i]->SetLabel(memory::Kind::kActivations, blob_names_[i]);
  }
  for (size_t i = params_.size(); i-- > 0;) {
    const auto [layer, index] = param_layer_indices_[i];
    params_[i]->SetLabel(memory::Kind::kParameters,
                         Concat(layer_names_[layer], "[", index, "]"));
  }
}

template <typename Dtype>
void Net<Dtype>::PruneBackward() {
  vector<bool> reaches_loss(blobs_.size(), false);
  vector<bool> is_skipped(blobs_.size(), false);
  for (int i = static_cast<int>(layers_.size()) - 1; i >= 0; --i) {
    bool layer_reaches_loss = false;
    bool all_tops_skipped = true;
    for (size_t j = 0; j < top_id_vecs_[i].size(); ++j) {
      const int blob_id = top_id_vecs_[i][j];
      layer_reaches_loss = layer_reaches_loss || reaches_loss[blob_id] ||
                           layers_[i]->loss(j) != 0;
      all_tops_skipped = all_tops_skipped && is_skipped[blob_id];
    }
    const bool needed = layer_reaches_loss && !all_tops_skipped;
    if (!needed) {
      layer_need_backward_[i] = false;
      bottom_need_backward_[i].assign(bottom_vecs_[i].size(), false);
    }
    LOG_IF(INFO, Caffe::root_solver())
        << layer_names_[i]
        << (layer_need_backward_[i] ? " needs backward computation."
                                    : " does not need backward computation.");
    for (size_t j = 0; j < bottom_id_vecs_[i].size(); ++j) {
      const int blob_id = bottom_id_vecs_[i][j];
      if (layer_reaches_loss) reaches_loss[blob_id] = true;
      if (!bottom_need_backward_[i][j]) is_skipped[blob_id] = true;
    }
  }
}

template <typename Dtype>
void Net<Dtype>::ForceBackward() {
  for (size_t i = 0; i < layers_.size(); ++i) {
    layer_need_backward_[i] = true;
    for (size_t j = 0; j < bottom_id_vecs_[i].size(); ++j) {
      const bool need_backward =
          bottom_need_backward_[i][j] || layers_[i]->AllowForceBackward(j);
      bottom_need_backward_[i][j] = need_backward;
      if (need_backward) blob_need_backward_[bottom_id_vecs_[i][j]] = true;
    }
    for (size_t j = 0; j < layers_[i]->blobs().size(); ++j) {
      layers_[i]->set_param_propagate_down(j, true);
    }
  }
}

template <typename Dtype>
void Net<Dtype>::IndexNames() {
  for (size_t i = 0; i < blobs_.size(); ++i) {
    blob_names_index_[blob_names_[i]] = i;
  }
  map<string, int> uses;
  for (size_t i = 0; i < layers_.size(); ++i) {
    layer_names_index_[layer_names_[i]] = i;
    ++uses[layer_names_[i]];
  }
  for (const auto& layer : layers_) {
    if (layer->blobs().empty()) continue;
    const string& name = layer->layer_param().name();
    Require(!name.empty() && uses[name] == 1, LayerTitle(layer->layer_param()),
            name.empty() ? ": has no name" : ": another layer has that name",
            "; a layer with parameters needs one of its own, under which they "
            "are saved");
  }
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
