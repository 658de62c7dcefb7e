#include "caffe/net.hpp"

#include "caffe/util/math_functions.hpp"
#include "naming.hpp"

namespace caffe {

template <typename Dtype>
Dtype Net<Dtype>::ForwardLayer(int i) {
  for (Callback* callback : before_forward_) callback->run(i);
  const Dtype loss = NamingLayer(layers_[i]->layer_param(), [&] {
    return layers_[i]->Forward(working_bottoms(i), working_tops(i));
  });
  if (debug_info_) ForwardDebugInfo(i);
  for (Callback* callback : after_forward_) callback->run(i);
  return loss;
}

template <typename Dtype>
Dtype Net<Dtype>::ForwardFromTo(int start, int end) {
  Require(start >= 0 && end < static_cast<int>(layers_.size()),
          "cannot run layers ", start, " to ", end, " forward: the net has ",
          layers_.size());
  Dtype loss = 0;
  for (int i = start; i <= end; ++i) {
    BatchParts<Dtype>* const parts = StretchOf(i);
    if (parts == nullptr) {
      loss += ForwardLayer(i);
    } else if (i == parts->stretch().first && parts->stretch().last <= end &&
               CanRunInParts() && parts->Fits()) {
      ForwardInParts(parts);
      i = parts->stretch().last;
    } else {
      parts->set_has_run(false);
      loss += ForwardLayer(i);
    }
  }
  return loss;
}

template <typename Dtype>
Dtype Net<Dtype>::ForwardFrom(int start) {
  return ForwardFromTo(start, static_cast<int>(layers_.size()) - 1);
}

template <typename Dtype>
Dtype Net<Dtype>::ForwardTo(int end) {
  return ForwardFromTo(0, end);
}

template <typename Dtype>
const vector<Blob<Dtype>*>& Net<Dtype>::Forward(Dtype* loss) {
  const Dtype total = ForwardFrom(0);
  if (loss != nullptr) *loss = total;
  return net_output_blobs_;
}

template <typename Dtype>
const vector<Blob<Dtype>*>& Net<Dtype>::Forward(
    const vector<Blob<Dtype>*>& bottom, Dtype* loss) {
  Require(bottom.size() == net_input_blobs_.size(), "the net has ",
          net_input_blobs_.size(), " input(s), not ", bottom.size());
  for (size_t i = 0; i < bottom.size(); ++i) {
    net_input_blobs_[i]->CopyFrom(*bottom[i]);
  }
  return Forward(loss);
}

template <typename Dtype>
void Net<Dtype>::BackwardLayer(int i) {
  for (Callback* callback : before_backward_) callback->run(i);
  if (layer_need_backward_[i]) {
    NamingLayer(layers_[i]->layer_param(), [&] {
      layers_[i]->Backward(working_tops(i), bottom_need_backward_[i],
                           working_bottoms(i));
    });
    if (debug_info_) BackwardDebugInfo(i);
  }
  for (Callback* callback : after_backward_) callback->run(i);
}

template <typename Dtype>
void Net<Dtype>::BackwardFromTo(int start, int end) {
  Require(end >= 0 && start < static_cast<int>(layers_.size()),
          "cannot run layers ", start, " to ", end, " backward: the net has ",
          layers_.size());
  for (int i = start; i >= end; --i) {
    BatchParts<Dtype>* const parts = StretchOf(i);
    if (parts == nullptr || !parts->has_run()) {
      BackwardLayer(i);
      continue;
    }
    const Stretch& stretch = parts->stretch();
    Require(i == stretch.last && stretch.first >= end, "layers '",
            layer_names_[stretch.first], "' to '", layer_names_[stretch.last],
            "' ran forward in parts of the batch and can only run backward "
            "together; memory { parts: false } in the net runs all at once");
    BackwardInParts(parts);
    i = stretch.first;
  }
}

template <typename Dtype>
void Net<Dtype>::BackwardFrom(int start) {
  BackwardFromTo(start, 0);
}

template <typename Dtype>
void Net<Dtype>::BackwardTo(int end) {
  BackwardFromTo(static_cast<int>(layers_.size()) - 1, end);
}

template <typename Dtype>
void Net<Dtype>::Backward() {
  BackwardTo(0);
  if (debug_info_) FinalBackwardDebugInfo();
}

template <typename Dtype>
void Net<Dtype>::Reshape() {
  for (size_t i = 0; i < layers_.size(); ++i) {
    NamingLayer(layers_[i]->layer_param(),
                [&] { layers_[i]->Reshape(bottom_vecs_[i], top_vecs_[i]); });
  }
}

template <typename Dtype>
void Net<Dtype>::ClearParamDiffs() {
  for (Blob<Dtype>* param : learnable_params_) {
    SyncedMemory* const diff = param->diff().get();
    // What has no memory becomes zeros without taking any.
    if (diff->is_evicted()) diff->Forget();
    if (diff->head() == SyncedMemory::UNINITIALIZED) continue;
    caffe_set(param->count(), Dtype(0), param->mutable_cpu_diff());
  }
}

template <typename Dtype>
void Net<Dtype>::Update() {
  if (debug_info_) {
    for (size_t i = 0; i < params_.size(); ++i) UpdateDebugInfo(i);
  }
  for (Blob<Dtype>* param : learnable_params_) param->Update();
}

template <typename Dtype>
const vector<int>& Net<Dtype>::top_ids(int i) const {
  CHECK_GE(i, 0);
  CHECK_LT(i, static_cast<int>(top_id_vecs_.size()));
  return top_id_vecs_[i];
}

template <typename Dtype>
const vector<int>& Net<Dtype>::bottom_ids(int i) const {
  CHECK_GE(i, 0);
  CHECK_LT(i, static_cast<int>(bottom_id_vecs_.size()));
  return bottom_id_vecs_[i];
}

template <typename Dtype>
bool Net<Dtype>::has_blob(const string& blob_name) const {
  return blob_names_index_.count(blob_name) > 0;
}

template <typename Dtype>
const shared_ptr<Blob<Dtype>> Net<Dtype>::blob_by_name(
    const string& blob_name) const {
  const auto found = blob_names_index_.find(blob_name);
  if (found != blob_names_index_.end()) return blobs_[found->second];
  LOG(WARNING) << "Unknown blob name " << blob_name;
  return nullptr;
}

template <typename Dtype>
bool Net<Dtype>::has_layer(const string& layer_name) const {
  return layer_names_index_.count(layer_name) > 0;
}

template <typename Dtype>
const shared_ptr<Layer<Dtype>> Net<Dtype>::layer_by_name(
    const string& layer_name) const {
  const auto found = layer_names_index_.find(layer_name);
  if (found != layer_names_index_.end()) return layers_[found->second];
  LOG(WARNING) << "Unknown layer name " << layer_name;
  return nullptr;
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
