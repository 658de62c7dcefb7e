#include "caffe/layers/sigmoid_cross_entropy_loss_layer.hpp"

#include "cpu/losses.hpp"
#include "layers/loss_normalization.hpp"

namespace caffe {

template <typename Dtype>
void SigmoidCrossEntropyLossLayer<Dtype>::LayerSetUp(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::LayerSetUp(bottom, top);
  const LossParameter& loss = this->layer_param_.loss_param();
  has_ignore_label_ = loss.has_ignore_label();
  ignore_label_ = loss.ignore_label();
  // Unlike SoftmaxWithLoss, as in Caffe.
  normalization_ = NormalizationOf(loss, LossParameter::BATCH_SIZE);
}

template <typename Dtype>
void SigmoidCrossEntropyLossLayer<Dtype>::Reshape(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  outer_num_ = bottom[0]->shape(0);
  inner_num_ = bottom[0]->count(1);
  Require(bottom[0]->count() == bottom[1]->count(),
          "its scores and its targets must be as many, not ",
          bottom[0]->shape_string(), " and ", bottom[1]->shape_string());
}

template <typename Dtype>
Dtype SigmoidCrossEntropyLossLayer<Dtype>::get_normalizer(
    LossParameter_NormalizationMode normalization_mode, int valid_count) {
  return LossNormalizer<Dtype>(normalization_mode, outer_num_, inner_num_,
                               valid_count);
}

template <typename Dtype>
Dtype SigmoidCrossEntropyLossLayer<Dtype>::NormalizerFor(
    const Blob<Dtype>& targets) {
  const int64_t valid =
      cpu::CountTargets(targets.count(), targets.cpu_data(), Ignored());
  return get_normalizer(normalization_, static_cast<int>(valid));
}

template <typename Dtype>
void SigmoidCrossEntropyLossLayer<Dtype>::Forward_cpu(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  const double loss =
      cpu::SigmoidCrossEntropy(bottom[0]->count(), bottom[0]->cpu_data(),
                               bottom[1]->cpu_data(), Ignored());
  top[0]->mutable_cpu_data()[0] = loss / NormalizerFor(*bottom[1]);
}

template <typename Dtype>
void SigmoidCrossEntropyLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "targets have no gradients");
  if (!propagate_down[0]) return;
  cpu::SigmoidCrossEntropyBackward(
      bottom[0]->count(), bottom[0]->cpu_data(), bottom[1]->cpu_data(),
      Ignored(), top[0]->cpu_diff()[0] / NormalizerFor(*bottom[1]),
      bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SigmoidCrossEntropyLossLayer);
REGISTER_LAYER_CLASS(SigmoidCrossEntropyLoss);

}  // namespace caffe
