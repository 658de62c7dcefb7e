#include <algorithm>

#include "caffe/net.hpp"

namespace caffe {

namespace {

template <typename Dtype>
Dtype Mean(Dtype sum, const Blob<Dtype>& blob) {
  return sum / std::max(blob.count(), 1);
}

}  // namespace

template <typename Dtype>
void Net<Dtype>::ForwardDebugInfo(const int layer_id) {
  if (!Caffe::root_solver()) return;
  const string& layer = layer_names_[layer_id];
  for (const int blob_id : top_id_vecs_[layer_id]) {
    const Blob<Dtype>& blob = *blobs_[blob_id];
    LOG(INFO) << "    [Forward] Layer " << layer << ", top blob "
              << blob_names_[blob_id]
              << " data: " << Mean(blob.asum_data(), blob);
  }
  for (const int param_id : param_id_vecs_[layer_id]) {
    const Blob<Dtype>& blob = *params_[param_id];
    LOG(INFO) << "    [Forward] Layer " << layer << ", param blob "
              << param_display_names_[param_id]
              << " data: " << Mean(blob.asum_data(), blob);
  }
}

template <typename Dtype>
void Net<Dtype>::BackwardDebugInfo(const int layer_id) {
  if (!Caffe::root_solver()) return;
  const string& layer = layer_names_[layer_id];
  const vector<int>& bottoms = bottom_id_vecs_[layer_id];
  for (size_t i = 0; i < bottoms.size(); ++i) {
    if (!bottom_need_backward_[layer_id][i]) continue;
    const Blob<Dtype>& blob = *blobs_[bottoms[i]];
    LOG(INFO) << "    [Backward] Layer " << layer << ", bottom blob "
              << blob_names_[bottoms[i]]
              << " diff: " << Mean(blob.asum_diff(), blob);
  }
  const vector<int>& params = param_id_vecs_[layer_id];
  for (size_t i = 0; i < params.size(); ++i) {
    if (!layers_[layer_id]->param_propagate_down(i)) continue;
    const Blob<Dtype>& blob = *params_[params[i]];
    LOG(INFO) << "    [Backward] Layer " << layer << ", param blob "
              << param_display_names_[params[i]]
              << " diff: " << Mean(blob.asum_diff(), blob);
  }
}

template <typename Dtype>
void Net<Dtype>::FinalBackwardDebugInfo() const {
  Dtype asum_data = 0;
  Dtype asum_diff = 0;
  Dtype sumsq_data = 0;
  Dtype sumsq_diff = 0;
  for (const Blob<Dtype>* param : learnable_params_) {
    asum_data += param->asum_data();
    asum_diff += param->asum_diff();
    sumsq_data += param->sumsq_data();
    sumsq_diff += param->sumsq_diff();
  }
  LOG_IF(INFO, Caffe::root_solver())
      << "    [Backward] All net params (data, diff): L1 norm = (" << asum_data
      << ", " << asum_diff << "); L2 norm = (" << std::sqrt(sumsq_data) << ", "
      << std::sqrt(sumsq_diff) << ")";
}

template <typename Dtype>
void Net<Dtype>::UpdateDebugInfo(const int param_id) {
  if (!Caffe::root_solver()) return;
  const Blob<Dtype>& blob = *params_[param_id];
  const string& layer = layer_names_[param_layer_indices_[param_id].first];
  const string& param = param_display_names_[param_id];
  const Dtype diff = Mean(blob.asum_diff(), blob);
  const int owner = param_owners_[param_id];
  if (owner < 0) {
    LOG(INFO) << "    [Update] Layer " << layer << ", param " << param
              << " data: " << Mean(blob.asum_data(), blob)
              << "; diff: " << diff;
  } else {
    LOG(INFO) << "    [Update] Layer " << layer << ", param blob " << param
              << " (owned by layer "
              << layer_names_[param_layer_indices_[owner].first]
              << ", param blob " << param_display_names_[owner]
              << ") diff: " << diff;
  }
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
