#include "caffe/layers/elu_layer.hpp"

#include "cpu/activations.hpp"
#include "cpu/mask.hpp"

namespace caffe {

template <typename Dtype>
void ELULayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                              const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  if (KeepsMask()) mask_.Reshape(cpu::MaskWords(bottom[0]->count()));
}

template <typename Dtype>
BackwardReads ELULayer<Dtype>::backward_reads() const {
  BackwardReads reads =
      BackwardReads::Of({BackwardRead::kNothing}, {BackwardRead::kValues});
  if (KeepsMask()) mask_.AddTo(&reads);
  return reads;
}

template <typename Dtype>
void ELULayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  const int count = bottom[0]->count();
  const Dtype* const in = bottom[0]->cpu_data();
  if (KeepsMask()) cpu::MaskPositive(count, in, mask_.mutable_bits());
  cpu::Elu(count, alpha(), in, top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ELULayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::EluBackward(top[0]->count(), alpha(), top[0]->cpu_data(),
                   KeepsMask() ? mask_.bits() : nullptr, top[0]->cpu_diff(),
                   bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ELULayer);
REGISTER_LAYER_CLASS(ELU);

}  // namespace caffe
