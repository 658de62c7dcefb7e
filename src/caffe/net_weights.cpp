#include "caffe/net.hpp"
#include "naming.hpp"

namespace caffe {

namespace {

void RequireSameNumber(size_t source, size_t target) {
  Require(source == target, "has ", target, " parameter blob(s) here but ",
          source, " where its weights should come from");
}

template <typename Dtype>
void RequireSameShape(int index, const Blob<Dtype>& source,
                      const Blob<Dtype>& target) {
  Require(source.shape() == target.shape(), "its parameter ", index,
          " has the shape ", target.shape_string(), " here but ",
          source.shape_string(),
          " where its weights should come from; to learn the layer from "
          "scratch, rename it");
}

// Layers without weights are not missed.
void LogIgnored(size_t num_blobs, const string& layer_name) {
  LOG_IF(INFO, num_blobs > 0) << "Ignoring source layer " << layer_name;
}

}  // namespace

template <typename Dtype>
Layer<Dtype>* Net<Dtype>::WeightsTarget(const string& source_layer) const {
  const auto found = layer_names_index_.find(source_layer);
  return found == layer_names_index_.end() ? nullptr
                                           : layers_[found->second].get();
}

template <typename Dtype>
void Net<Dtype>::ShareTrainedLayersWith(const Net* other) {
  for (const auto& source : other->layers()) {
    const vector<shared_ptr<Blob<Dtype>>>& blobs = source->blobs();
    Layer<Dtype>* const target = WeightsTarget(source->layer_param().name());
    if (target == nullptr) {
      LogIgnored(blobs.size(), source->layer_param().name());
      continue;
    }
    NamingLayer(target->layer_param(), [&] {
      RequireSameNumber(blobs.size(), target->blobs().size());
      for (size_t i = 0; i < blobs.size(); ++i) {
        RequireSameShape(i, *blobs[i], *target->blobs()[i]);
        target->blobs()[i]->ShareData(*blobs[i]);
      }
    });
  }
}

template <typename Dtype>
void Net<Dtype>::CopyTrainedLayersFrom(const NetParameter& param) {
  for (const LayerParameter& source : param.layer()) {
    Layer<Dtype>* const target = WeightsTarget(source.name());
    if (target == nullptr) {
      LogIgnored(source.blobs_size(), source.name());
      continue;
    }
    NamingLayer(target->layer_param(), [&] {
      RequireSameNumber(source.blobs_size(), target->blobs().size());
      for (int i = 0; i < source.blobs_size(); ++i) {
        Blob<Dtype>* const blob = target->blobs()[i].get();
        if (!blob->ShapeEquals(source.blobs(i))) {
          Blob<Dtype> stored;
          stored.FromProto(source.blobs(i));
          RequireSameShape(i, stored, *blob);
        }
        blob->FromProto(source.blobs(i), /*reshape=*/false);
      }
    });
  }
}

template <typename Dtype>
void Net<Dtype>::ToProto(NetParameter* param, bool write_diff) const {
  param->Clear();
  param->set_name(name_);
  for (const auto& layer : layers_) {
    layer->ToProto(param->add_layer(), write_diff);
  }
}

template <typename Dtype>
void Net<Dtype>::SaveState(NetResumeState* state) const {
  state->Clear();
  for (const auto& layer : layers_) {
    string layer_state = layer->SaveState();
    if (layer_state.empty()) continue;
    LayerResumeState* const saved = state->add_layer();
    saved->set_name(layer->layer_param().name());
    saved->set_state(std::move(layer_state));
  }
}

template <typename Dtype>
void Net<Dtype>::RestoreState(const NetResumeState& state) {
  // Names of layers without parameters need not be unique: the first of a name
  // gets the first state of that name, and so on.
  std::multimap<string, const string*> states;
  for (const LayerResumeState& saved : state.layer()) {
    states.emplace(saved.name(), &saved.state());
  }
  for (const auto& layer : layers_) {
    const LayerParameter& layer_param = layer->layer_param();
    const auto saved = states.lower_bound(layer_param.name());
    if (saved == states.end() || saved->first != layer_param.name()) continue;
    NamingLayer(layer_param, [&] { layer->RestoreState(*saved->second); });
    states.erase(saved);
  }
  for (const auto& [name, unused] : states) {
    LOG(WARNING) << "Ignoring the state of layer " << name
                 << ", which this net does not have";
  }
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
