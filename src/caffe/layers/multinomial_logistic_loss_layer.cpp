#include "caffe/layers/multinomial_logistic_loss_layer.hpp"

#include <algorithm>

#include "cpu/softmax.hpp"
#include "layers/labels.hpp"

namespace caffe {

template <typename Dtype>
void MultinomialLogisticLossLayer<Dtype>::Reshape(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  RequireLabelPerItem(*bottom[0], *bottom[1]);
}

template <typename Dtype>
void MultinomialLogisticLossLayer<Dtype>::Forward_cpu(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  const int items = bottom[0]->shape(0);
  const int classes = bottom[0]->count(1);
  const vector<int> labels = ReadLabels(*bottom[1], classes, std::nullopt);
  const double loss =
      cpu::CrossEntropy(items, classes, 1, bottom[0]->cpu_data(), labels.data(),
                        Dtype(kLOG_THRESHOLD));
  top[0]->mutable_cpu_data()[0] = loss / items;
}

template <typename Dtype>
void MultinomialLogisticLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "labels have no gradients");
  if (!propagate_down[0]) return;
  const int items = bottom[0]->shape(0);
  const int classes = bottom[0]->count(1);
  const vector<int> labels = ReadLabels(*bottom[1], classes, std::nullopt);
  const Dtype scale = top[0]->cpu_diff()[0] / items;
  const Dtype* const probabilities = bottom[0]->cpu_data();
  Dtype* const diff = bottom[0]->mutable_cpu_diff();
  caffe_set(bottom[0]->count(), Dtype(0), diff);
  for (int i = 0; i < items; ++i) {
    const int64_t at = int64_t{i} * classes + labels[i];
    diff[at] = -scale / std::max(probabilities[at], Dtype(kLOG_THRESHOLD));
  }
}

INSTANTIATE_CLASS(MultinomialLogisticLossLayer);
REGISTER_LAYER_CLASS(MultinomialLogisticLoss);

}  // namespace caffe
