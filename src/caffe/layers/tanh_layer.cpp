#include "caffe/layers/tanh_layer.hpp"

#include "cpu/activations.hpp"
#include "cpu/engine.hpp"

namespace caffe {

template <typename Dtype>
void TanHLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  const cpu::ScopedKernels scope(
      cpu::KernelsFor(this->layer_param_.tanh_param()));
  cpu::Tanh(bottom[0]->count(), bottom[0]->cpu_data(),
            top[0]->mutable_cpu_data());
}

template <typename Dtype>
void TanHLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::TanhBackward(top[0]->count(), top[0]->cpu_data(), top[0]->cpu_diff(),
                    bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(TanHLayer);
REGISTER_LAYER_CLASS(TanH);

}  // namespace caffe
