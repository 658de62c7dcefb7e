#include "caffe/layers/softmax_loss_layer.hpp"

#include <cfloat>

#include "cpu/softmax.hpp"
#include "layers/labels.hpp"
#include "layers/loss_normalization.hpp"

namespace caffe {

template <typename Dtype>
void SoftmaxWithLossLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                             const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::LayerSetUp(bottom, top);
  LayerParameter softmax_param(this->layer_param_);
  softmax_param.set_type("Softmax");
  softmax_param.clear_loss_weight();
  softmax_layer_ = LayerRegistry<Dtype>::CreateLayer(softmax_param);
  softmax_bottom_vec_ = {bottom[0]};
  softmax_top_vec_ = {&prob_};
  softmax_layer_->SetUp(softmax_bottom_vec_, softmax_top_vec_);

  const LossParameter& loss = this->layer_param_.loss_param();
  has_ignore_label_ = loss.has_ignore_label();
  ignore_label_ = loss.ignore_label();
  normalization_ = NormalizationOf(loss, LossParameter::VALID);
}

template <typename Dtype>
void SoftmaxWithLossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  softmax_layer_->Reshape(softmax_bottom_vec_, softmax_top_vec_);
  softmax_axis_ =
      bottom[0]->CanonicalAxisIndex(this->layer_param_.softmax_param().axis());
  outer_num_ = bottom[0]->count(0, softmax_axis_);
  inner_num_ = bottom[0]->count(softmax_axis_ + 1);
  RequireLabels(*bottom[0], softmax_axis_, *bottom[1]);
  if (top.size() == 1) return;
  top[1]->ReshapeLike(prob_);
  top[1]->ShareData(prob_);
}

template <typename Dtype>
vector<int> SoftmaxWithLossLayer<Dtype>::Labels(const Blob<Dtype>& blob) const {
  return ReadLabels(
      blob, prob_.shape(softmax_axis_),
      has_ignore_label_ ? std::optional(ignore_label_) : std::nullopt);
}

template <typename Dtype>
Dtype SoftmaxWithLossLayer<Dtype>::Normalizer(const vector<int>& labels) {
  return get_normalizer(normalization_, CountLabels(labels));
}

template <typename Dtype>
Dtype SoftmaxWithLossLayer<Dtype>::get_normalizer(
    LossParameter_NormalizationMode normalization_mode, int valid_count) {
  return LossNormalizer<Dtype>(normalization_mode, outer_num_, inner_num_,
                               valid_count);
}

template <typename Dtype>
void SoftmaxWithLossLayer<Dtype>::Forward_cpu(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  softmax_layer_->Forward(softmax_bottom_vec_, softmax_top_vec_);
  const vector<int> labels = Labels(*bottom[1]);
  const double loss =
      cpu::CrossEntropy(outer_num_, prob_.shape(softmax_axis_), inner_num_,
                        prob_.cpu_data(), labels.data(), Dtype(FLT_MIN));
  top[0]->mutable_cpu_data()[0] = loss / Normalizer(labels);
}

template <typename Dtype>
void SoftmaxWithLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "labels have no gradients");
  if (!propagate_down[0]) return;
  const vector<int> labels = Labels(*bottom[1]);
  cpu::CrossEntropyBackward(outer_num_, prob_.shape(softmax_axis_), inner_num_,
                            prob_.cpu_data(), labels.data(),
                            top[0]->cpu_diff()[0] / Normalizer(labels),
                            bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SoftmaxWithLossLayer);
REGISTER_LAYER_CLASS(SoftmaxWithLoss);

}  // namespace caffe
