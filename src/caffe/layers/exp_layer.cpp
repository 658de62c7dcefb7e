#include "caffe/layers/exp_layer.hpp"

#include "cpu/powers.hpp"
#include "layers/log_base.hpp"

namespace caffe {

template <typename Dtype>
void ExpLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                 const vector<Blob<Dtype>*>& /*top*/) {
  const ExpParameter& param = this->layer_param_.exp_param();
  const Dtype log_base = LogOfBase(param.base());
  inner_scale_ = log_base * param.scale();
  inner_shift_ = log_base * param.shift();
}

template <typename Dtype>
void ExpLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  cpu::Exponential<Dtype>(bottom[0]->count(), {inner_scale_, inner_shift_},
                          bottom[0]->cpu_data(), top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ExpLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::ExponentialBackward<Dtype>(top[0]->count(), {inner_scale_, inner_shift_},
                                  top[0]->cpu_data(), top[0]->cpu_diff(),
                                  bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ExpLayer);
REGISTER_LAYER_CLASS(Exp);

}  // namespace caffe
