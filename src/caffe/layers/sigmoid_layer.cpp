#include "caffe/layers/sigmoid_layer.hpp"

#include "cpu/activations.hpp"
#include "cpu/engine.hpp"

namespace caffe {

template <typename Dtype>
void SigmoidLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  const cpu::ScopedKernels scope(
      cpu::KernelsFor(this->layer_param_.sigmoid_param()));
  cpu::Sigmoid(bottom[0]->count(), bottom[0]->cpu_data(),
               top[0]->mutable_cpu_data());
}

template <typename Dtype>
void SigmoidLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                       const vector<bool>& propagate_down,
                                       const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::SigmoidBackward(top[0]->count(), top[0]->cpu_data(), top[0]->cpu_diff(),
                       bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SigmoidLayer);
REGISTER_LAYER_CLASS(Sigmoid);

}  // namespace caffe
