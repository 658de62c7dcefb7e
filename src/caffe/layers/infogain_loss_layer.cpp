#include "caffe/layers/infogain_loss_layer.hpp"

#include <algorithm>

#include "caffe/util/io.hpp"
#include "cpu/losses.hpp"
#include "cpu/softmax.hpp"
#include "layers/labels.hpp"
#include "layers/loss_normalization.hpp"

namespace caffe {

template <typename Dtype>
void InfogainLossLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::LayerSetUp(bottom, top);
  const LossParameter& loss = this->layer_param_.loss_param();
  has_ignore_label_ = loss.has_ignore_label();
  ignore_label_ = loss.ignore_label();
  Require(!loss.has_normalize(),
          "takes loss_param.normalization, not the older normalize");
  normalization_ = loss.normalization();
  if (bottom.size() > 2) return;
  const InfogainLossParameter& param = this->layer_param_.infogain_loss_param();
  Require(param.has_source(),
          "needs a matrix: a third bottom, or infogain_loss_param.source");
  BlobProto proto;
  ReadProtoFromBinaryFileOrDie(param.source(), &proto);
  try {
    infogain_.FromProto(proto);
  } catch (const Error& error) {
    Fail("matrix file '", param.source(), "': ", error.what());
  }
}

template <typename Dtype>
void InfogainLossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  infogain_axis_ = bottom[0]->CanonicalAxisIndex(
      this->layer_param_.infogain_loss_param().axis());
  outer_num_ = bottom[0]->count(0, infogain_axis_);
  inner_num_ = bottom[0]->count(infogain_axis_ + 1);
  num_labels_ = bottom[0]->shape(infogain_axis_);
  RequireLabels(*bottom[0], infogain_axis_, *bottom[1]);
  const Blob<Dtype>& gains = GainsOf(bottom);
  Require(gains.count() == int64_t{num_labels_} * num_labels_,
          "its matrix for ", num_labels_, " classes must have ", num_labels_,
          " x ", num_labels_, " values, not the shape ", gains.shape_string());
  prob_.ReshapeLike(*bottom[0]);
  if (top.size() == 1) return;
  top[1]->ReshapeLike(prob_);
  top[1]->ShareData(prob_);
}

template <typename Dtype>
vector<int> InfogainLossLayer<Dtype>::Labels(const Blob<Dtype>& blob) const {
  return ReadLabels(
      blob, num_labels_,
      has_ignore_label_ ? std::optional(ignore_label_) : std::nullopt);
}

template <typename Dtype>
Dtype InfogainLossLayer<Dtype>::get_normalizer(
    LossParameter_NormalizationMode normalization_mode, int valid_count) {
  return LossNormalizer<Dtype>(normalization_mode, outer_num_, inner_num_,
                               valid_count);
}

template <typename Dtype>
Dtype InfogainLossLayer<Dtype>::NormalizerFor(const vector<int>& labels) {
  return get_normalizer(normalization_, CountLabels(labels));
}

template <typename Dtype>
void InfogainLossLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                           const vector<Blob<Dtype>*>& top) {
  cpu::Softmax(outer_num_, num_labels_, inner_num_, bottom[0]->cpu_data(),
               prob_.mutable_cpu_data());
  const vector<int> labels = Labels(*bottom[1]);
  const double loss = cpu::Infogain(
      outer_num_, num_labels_, inner_num_, prob_.cpu_data(), labels.data(),
      GainsOf(bottom).cpu_data(), Dtype(kLOG_THRESHOLD));
  top[0]->mutable_cpu_data()[0] = loss / NormalizerFor(labels);
}

template <typename Dtype>
void InfogainLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "labels have no gradients");
  Require(bottom.size() < 3 || !propagate_down[2],
          "the matrix has no gradients");
  if (!propagate_down[0]) return;
  const vector<int> labels = Labels(*bottom[1]);
  cpu::InfogainBackward(outer_num_, num_labels_, inner_num_, prob_.cpu_data(),
                        labels.data(), GainsOf(bottom).cpu_data(),
                        top[0]->cpu_diff()[0] / NormalizerFor(labels),
                        bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(InfogainLossLayer);
REGISTER_LAYER_CLASS(InfogainLoss);

}  // namespace caffe
