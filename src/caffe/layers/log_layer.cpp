#include "caffe/layers/log_layer.hpp"

#include "cpu/powers.hpp"
#include "layers/log_base.hpp"

namespace caffe {

template <typename Dtype>
void LogLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                 const vector<Blob<Dtype>*>& /*top*/) {
  const LogParameter& param = this->layer_param_.log_param();
  log_base_ = LogOfBase(param.base());
  Require(log_base_ != 0, "there are no logarithms with a base of 1");
  input_scale_ = param.scale();
  input_shift_ = param.shift();
}

template <typename Dtype>
void LogLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  cpu::Logarithm<Dtype>(bottom[0]->count(), {input_scale_, input_shift_},
                        log_base_, bottom[0]->cpu_data(),
                        top[0]->mutable_cpu_data());
}

template <typename Dtype>
void LogLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::LogarithmBackward<Dtype>(
      top[0]->count(), {input_scale_, input_shift_}, log_base_,
      top[0]->cpu_data(), top[0]->cpu_diff(), bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(LogLayer);
REGISTER_LAYER_CLASS(Log);

}  // namespace caffe
