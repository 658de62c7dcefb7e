#include "caffe/layers/power_layer.hpp"

#include <cmath>

#include "cpu/powers.hpp"

namespace caffe {

template <typename Dtype>
void PowerLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                   const vector<Blob<Dtype>*>& /*top*/) {
  const PowerParameter& param = this->layer_param_.power_param();
  power_ = param.power();
  scale_ = param.scale();
  shift_ = param.shift();
  diff_scale_ = power_ * scale_;
}

template <typename Dtype>
void PowerLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  kept_bottom_.set_in_place(top[0] == bottom[0]);
}

template <typename Dtype>
BackwardReads PowerLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  if (HasConstantGradient()) return reads;
  const bool is_smooth = power_ >= 2 && power_ == std::floor(power_);
  kept_bottom_.AddTo(&reads,
                     is_smooth ? BackwardRead::kValues : BackwardRead::kExact);
  return reads;
}

template <typename Dtype>
void PowerLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  const int count = bottom[0]->count();
  if (diff_scale_ == 0) {
    // The same for all values, also those that are not numbers.
    caffe_set(count, power_ == 0 ? Dtype(1) : std::pow(shift_, power_),
              top[0]->mutable_cpu_data());
    return;
  }
  if (!HasConstantGradient()) kept_bottom_.Keep(*bottom[0]);
  cpu::Power<Dtype>(count, {scale_, shift_}, power_, bottom[0]->cpu_data(),
                    top[0]->mutable_cpu_data());
}

template <typename Dtype>
void PowerLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const int count = top[0]->count();
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  if (diff_scale_ == 0) {
    caffe_set(count, Dtype(0), bottom_diff);
  } else if (power_ == 1) {
    caffe_cpu_scale(count, diff_scale_, top_diff, bottom_diff);
  } else {
    cpu::PowerBackward<Dtype>(count, {scale_, shift_}, power_,
                              kept_bottom_.values(*bottom[0]), top_diff,
                              bottom_diff);
  }
}

INSTANTIATE_CLASS(PowerLayer);
REGISTER_LAYER_CLASS(Power);

}  // namespace caffe
