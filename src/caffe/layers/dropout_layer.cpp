#include "caffe/layers/dropout_layer.hpp"

#include "caffe/util/rng.hpp"
#include "cpu/mask.hpp"

namespace caffe {

template <typename Dtype>
void DropoutLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                     const vector<Blob<Dtype>*>& /*top*/) {
  const float ratio = this->layer_param_.dropout_param().dropout_ratio();
  Require(ratio > 0 && ratio < 1,
          "dropout_ratio must be above 0 and below 1, not ", ratio);
  threshold_ = ratio;
  scale_ = 1 / (1 - threshold_);
  uint_thres_ = static_cast<unsigned int>(UINT_MAX * threshold_);
}

template <typename Dtype>
void DropoutLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  rand_vec_.Reshape({static_cast<int>(cpu::MaskWords(bottom[0]->count()))});
}

template <typename Dtype>
void DropoutLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  const int count = bottom[0]->count();
  if (this->phase_ == TEST) {
    caffe_copy(count, bottom[0]->cpu_data(), top[0]->mutable_cpu_data());
    return;
  }
  unsigned int* const mask = rand_vec_.mutable_cpu_data();
  rng_t& rng = *caffe_rng();
  cpu::DrawMask(
      count, [&] { return rng() >= uint_thres_; }, mask);
  cpu::ApplyMask(count, mask, scale_, bottom[0]->cpu_data(),
                 top[0]->mutable_cpu_data());
}

template <typename Dtype>
void DropoutLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                       const vector<bool>& propagate_down,
                                       const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const int count = top[0]->count();
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  if (this->phase_ == TEST) {
    caffe_copy(count, top_diff, bottom_diff);
    return;
  }
  cpu::ApplyMask(count, rand_vec_.cpu_data(), scale_, top_diff, bottom_diff);
}

INSTANTIATE_CLASS(DropoutLayer);
REGISTER_LAYER_CLASS(Dropout);

}  // namespace caffe
