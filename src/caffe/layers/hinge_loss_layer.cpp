#include "caffe/layers/hinge_loss_layer.hpp"

#include "cpu/losses.hpp"
#include "layers/labels.hpp"

namespace caffe {

template <typename Dtype>
void HingeLossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  RequireLabelPerItem(*bottom[0], *bottom[1]);
}

template <typename Dtype>
void HingeLossLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                        const vector<Blob<Dtype>*>& top) {
  const int items = bottom[0]->shape(0);
  const int classes = bottom[0]->count(1);
  const vector<int> labels = ReadLabels(*bottom[1], classes, std::nullopt);
  const bool squared =
      this->layer_param_.hinge_loss_param().norm() == HingeLossParameter::L2;
  const double loss =
      cpu::Hinge(items, classes, bottom[0]->cpu_data(), labels.data(), squared);
  top[0]->mutable_cpu_data()[0] = loss / items;
}

template <typename Dtype>
void HingeLossLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                         const vector<bool>& propagate_down,
                                         const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "labels have no gradients");
  if (!propagate_down[0]) return;
  const int items = bottom[0]->shape(0);
  const int classes = bottom[0]->count(1);
  const vector<int> labels = ReadLabels(*bottom[1], classes, std::nullopt);
  const bool squared =
      this->layer_param_.hinge_loss_param().norm() == HingeLossParameter::L2;
  cpu::HingeBackward(items, classes, bottom[0]->cpu_data(), labels.data(),
                     squared, top[0]->cpu_diff()[0] / items,
                     bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(HingeLossLayer);
REGISTER_LAYER_CLASS(HingeLoss);

}  // namespace caffe
