#include "caffe/net.hpp"

namespace caffe {

namespace {

const ParamSpec& SpecOf(const LayerParameter& layer, int param_id) {
  return param_id < layer.param_size() ? layer.param(param_id)
                                       : ParamSpec::default_instance();
}

// A multiplier of a shared parameter may be given by any of the layers that
// share it, and all who give it must agree.
void Agree(const string& param, const char* field, float value, bool was_given,
           float* shared) {
  Require(!was_given || value == *shared, "gives the shared parameter '", param,
          "' the ", field, " ", value, ", but another layer gives it ",
          *shared);
  *shared = value;
}

}  // namespace

template <typename Dtype>
bool Net<Dtype>::AppendParams(const NetParameter& param, const int layer_id) {
  Layer<Dtype>* const layer = layers_[layer_id].get();
  // The layer's own settings: setting it up may have added to them.
  const LayerParameter& layer_param = layer->layer_param();
  const int num_params = static_cast<int>(layer->blobs().size());
  Require(layer_param.param_size() <= num_params, "has ",
          layer_param.param_size(), " param(s) for ", num_params,
          " parameter blob(s)");
  param_id_vecs_.emplace_back();
  bool learns = false;
  for (int i = 0; i < num_params; ++i) {
    const bool need_backward = SpecOf(layer_param, i).lr_mult() != 0;
    layer->set_param_propagate_down(i, need_backward);
    learns = learns || need_backward;
    AppendParam(param, layer_id, i);
  }
  return learns;
}

template <typename Dtype>
void Net<Dtype>::AppendParam(const NetParameter& /*param*/, const int layer_id,
                             const int param_id) {
  const ParamSpec& spec = SpecOf(layers_[layer_id]->layer_param(), param_id);
  const int net_param_id = static_cast<int>(params_.size());
  params_.push_back(layers_[layer_id]->blobs()[param_id]);
  param_id_vecs_[layer_id].push_back(net_param_id);
  param_layer_indices_.emplace_back(layer_id, param_id);
  param_display_names_.push_back(spec.name().empty() ? std::to_string(param_id)
                                                     : spec.name());
  const auto owner = param_names_index_.find(spec.name());
  if (!spec.name().empty() && owner != param_names_index_.end()) {
    ShareParam(spec, net_param_id, owner->second);
    return;
  }
  if (!spec.name().empty()) param_names_index_[spec.name()] = net_param_id;
  param_owners_.push_back(-1);
  learnable_param_ids_.push_back(static_cast<int>(learnable_params_.size()));
  learnable_params_.push_back(params_[net_param_id].get());
  has_params_lr_.push_back(spec.has_lr_mult());
  has_params_decay_.push_back(spec.has_decay_mult());
  params_lr_.push_back(spec.lr_mult());
  params_weight_decay_.push_back(spec.decay_mult());
}

template <typename Dtype>
void Net<Dtype>::ShareParam(const ParamSpec& spec, const int net_param_id,
                            const int owner_id) {
  const auto [owner_layer, owner_index] = param_layer_indices_[owner_id];
  LOG_IF(INFO, Caffe::root_solver())
      << "Sharing parameters '" << spec.name() << "' owned by layer '"
      << layer_names_[owner_layer] << "', param index " << owner_index;
  const Blob<Dtype>& blob = *params_[net_param_id];
  const Blob<Dtype>& owner = *params_[owner_id];
  const bool permissive = spec.share_mode() == ParamSpec::PERMISSIVE;
  Require(permissive ? blob.count() == owner.count()
                     : blob.shape() == owner.shape(),
          "cannot share the parameter '", spec.name(), "' of layer '",
          layer_names_[owner_layer], "': it has the shape ",
          owner.shape_string(), " there and ", blob.shape_string(), " here",
          permissive ? "" : ", and share_mode is STRICT");
  param_owners_.push_back(owner_id);
  const int learnable_id = learnable_param_ids_[owner_id];
  learnable_param_ids_.push_back(learnable_id);
  if (spec.has_lr_mult()) {
    Agree(spec.name(), "lr_mult", spec.lr_mult(), has_params_lr_[learnable_id],
          &params_lr_[learnable_id]);
    has_params_lr_[learnable_id] = true;
  }
  if (spec.has_decay_mult()) {
    Agree(spec.name(), "decay_mult", spec.decay_mult(),
          has_params_decay_[learnable_id], &params_weight_decay_[learnable_id]);
    has_params_decay_[learnable_id] = true;
  }
}

template <typename Dtype>
void Net<Dtype>::ShareWeights() {
  for (size_t i = 0; i < params_.size(); ++i) {
    if (param_owners_[i] < 0) continue;
    params_[i]->ShareData(*params_[param_owners_[i]]);
    params_[i]->ShareDiff(*params_[param_owners_[i]]);
  }
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
