#include "caffe/layers/bnll_layer.hpp"

#include "cpu/activations.hpp"

namespace caffe {

template <typename Dtype>
void BNLLLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  cpu::Softplus(bottom[0]->count(), bottom[0]->cpu_data(),
                top[0]->mutable_cpu_data());
}

template <typename Dtype>
void BNLLLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::SoftplusBackward(top[0]->count(), top[0]->cpu_data(), top[0]->cpu_diff(),
                        bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(BNLLLayer);
REGISTER_LAYER_CLASS(BNLL);

}  // namespace caffe
