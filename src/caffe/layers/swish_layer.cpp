#include "caffe/layers/swish_layer.hpp"

#include "cpu/activations.hpp"

namespace caffe {

template <typename Dtype>
void SwishLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  kept_bottom_.set_in_place(top[0] == bottom[0]);
}

template <typename Dtype>
BackwardReads SwishLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  kept_bottom_.AddTo(&reads, BackwardRead::kValues);
  return reads;
}

template <typename Dtype>
void SwishLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  const Dtype beta = this->layer_param_.swish_param().beta();
  kept_bottom_.Keep(*bottom[0]);
  cpu::Swish(bottom[0]->count(), beta, bottom[0]->cpu_data(),
             top[0]->mutable_cpu_data());
}

template <typename Dtype>
void SwishLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const Dtype beta = this->layer_param_.swish_param().beta();
  cpu::SwishBackward(top[0]->count(), beta, kept_bottom_.values(*bottom[0]),
                     top[0]->cpu_diff(), bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SwishLayer);
REGISTER_LAYER_CLASS(Swish);

}  // namespace caffe
