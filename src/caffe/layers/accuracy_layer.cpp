#include "caffe/layers/accuracy_layer.hpp"

#include <algorithm>
#include <numeric>

#include "layers/labels.hpp"

namespace caffe {

template <typename Dtype>
void AccuracyLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                      const vector<Blob<Dtype>*>& /*top*/) {
  const AccuracyParameter& param = this->layer_param_.accuracy_param();
  Require(param.top_k() <= INT_MAX, "top_k is too large");
  top_k_ = static_cast<int>(param.top_k());
  has_ignore_label_ = param.has_ignore_label();
  ignore_label_ = param.ignore_label();
}

template <typename Dtype>
void AccuracyLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  label_axis_ =
      bottom[0]->CanonicalAxisIndex(this->layer_param_.accuracy_param().axis());
  outer_num_ = bottom[0]->count(0, label_axis_);
  inner_num_ = bottom[0]->count(label_axis_ + 1);
  const int classes = bottom[0]->shape(label_axis_);
  RequireLabels(*bottom[0], label_axis_, *bottom[1]);
  Require(top_k_ <= classes, "top_k is ", top_k_, ", but there are only ",
          classes, " classes");
  top[0]->Reshape(vector<int>());
  if (top.size() > 1) top[1]->Reshape({classes});
}

template <typename Dtype>
void AccuracyLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  const int classes = bottom[0]->shape(label_axis_);
  const vector<int> labels = ReadLabels(
      *bottom[1], classes,
      has_ignore_label_ ? std::optional(ignore_label_) : std::nullopt);
  const Dtype* const scores = bottom[0]->cpu_data();
  vector<int> seen(classes);
  vector<int> right(classes);
  for (size_t i = 0; i < labels.size(); ++i) {
    const int label = labels[i];
    if (label == kNoLabel) continue;
    const Dtype* const score =
        scores + i / inner_num_ * classes * inner_num_ + i % inner_num_;
    const Dtype own = score[label * inner_num_];
    int better = 0;
    for (int c = 0; c < classes; ++c) {
      // Negated, so that scores that are not numbers never look right.
      if (c != label && !(score[c * inner_num_] < own)) ++better;
    }
    ++seen[label];
    if (better < top_k_) ++right[label];
  }
  const auto share = [](int part, int whole) {
    return whole == 0 ? Dtype(0) : Dtype(part) / Dtype(whole);
  };
  const auto sum = [](const vector<int>& counts) {
    return std::accumulate(counts.begin(), counts.end(), 0);
  };
  top[0]->mutable_cpu_data()[0] = share(sum(right), sum(seen));
  if (top.size() == 1) return;
  std::transform(right.begin(), right.end(), seen.begin(),
                 top[1]->mutable_cpu_data(), share);
}

template <typename Dtype>
void AccuracyLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& /*top*/, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& /*bottom*/) {
  for (const bool wanted : propagate_down) {
    Require(!wanted, "an accuracy has no gradient");
  }
}

INSTANTIATE_CLASS(AccuracyLayer);
REGISTER_LAYER_CLASS(Accuracy);

}  // namespace caffe
