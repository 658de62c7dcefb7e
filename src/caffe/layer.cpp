#include "caffe/layer.hpp"

namespace caffe {

template <typename Dtype>
Layer<Dtype>::Layer(const LayerParameter& param)
    : layer_param_(param), phase_(param.phase()) {
  for (const BlobProto& proto : param.blobs()) {
    blobs_.emplace_back(new Blob<Dtype>());
    blobs_.back()->FromProto(proto);
  }
}

template <typename Dtype>
void Layer<Dtype>::SetUp(const vector<Blob<Dtype>*>& bottom,
                         const vector<Blob<Dtype>*>& top) {
  CheckBlobCounts(bottom, top);
  LayerSetUp(bottom, top);
  Reshape(bottom, top);
  SetLossWeights(top);
}

template <typename Dtype>
Dtype Layer<Dtype>::Forward(const vector<Blob<Dtype>*>& bottom,
                            const vector<Blob<Dtype>*>& top) {
  Reshape(bottom, top);
  RefreshLossWeights(top);
  if (Caffe::mode() == Caffe::GPU) {
    Forward_gpu(bottom, top);
  } else {
    Forward_cpu(bottom, top);
  }
  Dtype total = 0;
  for (size_t i = 0; i < top.size(); ++i) {
    if (loss(i) == Dtype(0)) continue;
    // The diff holds the loss weight of every value.
    total +=
        caffe_cpu_dot(top[i]->count(), top[i]->cpu_data(), top[i]->cpu_diff());
  }
  return total;
}

template <typename Dtype>
void Layer<Dtype>::Backward(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom) {
  if (Caffe::mode() == Caffe::GPU) {
    Backward_gpu(top, propagate_down, bottom);
  } else {
    Backward_cpu(top, propagate_down, bottom);
  }
}

template <typename Dtype>
void Layer<Dtype>::ToProto(LayerParameter* param, bool write_diff) {
  param->Clear();
  param->CopyFrom(layer_param_);
  param->clear_blobs();
  for (const auto& blob : blobs_) blob->ToProto(param->add_blobs(), write_diff);
}

template <typename Dtype>
Dtype Layer<Dtype>::loss(const int top_index) const {
  return top_index < static_cast<int>(loss_.size()) ? loss_[top_index]
                                                    : Dtype(0);
}

template <typename Dtype>
void Layer<Dtype>::set_loss(const int top_index, const Dtype value) {
  if (top_index >= static_cast<int>(loss_.size())) {
    loss_.resize(top_index + 1, Dtype(0));
  }
  loss_[top_index] = value;
}

template <typename Dtype>
void Layer<Dtype>::set_param_propagate_down(const int param_id,
                                            const bool value) {
  if (param_id >= static_cast<int>(param_propagate_down_.size())) {
    param_propagate_down_.resize(param_id + 1, true);
  }
  param_propagate_down_[param_id] = value;
}

template <typename Dtype>
void Layer<Dtype>::set_leaves_to_rows(const int param_id, const bool value) {
  if (param_id >= static_cast<int>(left_to_rows_.size())) {
    left_to_rows_.resize(param_id + 1, false);
  }
  left_to_rows_[param_id] = value;
}

template <typename Dtype>
void Layer<Dtype>::CheckBlobCounts(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  const auto check = [](const char* what, int have, int exact, int least,
                        int most) {
    Require(exact < 0 || have == exact, "takes ", exact, " ", what,
            " blob(s), not ", have);
    Require(least < 0 || have >= least, "takes at least ", least, " ", what,
            " blob(s), not ", have);
    Require(most < 0 || have <= most, "takes at most ", most, " ", what,
            " blob(s), not ", have);
  };
  check("bottom", bottom.size(), ExactNumBottomBlobs(), MinBottomBlobs(),
        MaxBottomBlobs());
  check("top", top.size(), ExactNumTopBlobs(), MinTopBlobs(), MaxTopBlobs());
  Require(!EqualNumBottomTopBlobs() || bottom.size() == top.size(),
          "takes as many tops as bottoms, not ", bottom.size(),
          " bottom(s) and ", top.size(), " top(s)");
}

template <typename Dtype>
void Layer<Dtype>::SetLossWeights(const vector<Blob<Dtype>*>& top) {
  const int weights = layer_param_.loss_weight_size();
  if (weights == 0) return;
  Require(weights == static_cast<int>(top.size()), "has ", weights,
          " loss_weight(s) for ", top.size(),
          " top(s); give one for each top "
          "or none");
  for (int i = 0; i < weights; ++i) {
    const Dtype weight = layer_param_.loss_weight(i);
    if (weight == Dtype(0)) continue;
    set_loss(i, weight);
    FillWithLossWeight(i, top[i]);
  }
}

template <typename Dtype>
void Layer<Dtype>::FillWithLossWeight(int index, Blob<Dtype>* top) {
  caffe_set(top->count(), loss(index), top->mutable_cpu_diff());
  if (index >= static_cast<int>(weighted_.size())) weighted_.resize(index + 1);
  weighted_[index] = {top->diff(), top->count()};
}

template <typename Dtype>
void Layer<Dtype>::RefreshLossWeights(const vector<Blob<Dtype>*>& top) {
  for (size_t i = 0; i < std::min(weighted_.size(), top.size()); ++i) {
    const Weighted& filled = weighted_[i];
    if (loss(i) == Dtype(0) || filled.count == 0) continue;
    const bool is_same =
        filled.count == top[i]->count() && filled.diff.lock() == top[i]->diff();
    if (!is_same) FillWithLossWeight(i, top[i]);
  }
}

INSTANTIATE_CLASS(Layer);

}  // namespace caffe
