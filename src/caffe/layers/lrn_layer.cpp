#include "caffe/layers/lrn_layer.hpp"

#include "cpu/engine.hpp"
#include "cpu/lrn.hpp"

namespace caffe {

template <typename Dtype>
void LRNLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                 const vector<Blob<Dtype>*>& /*top*/) {
  const LRNParameter& param = this->layer_param_.lrn_param();
  Require(param.local_size() % 2 == 1, "local_size must be odd, not ",
          param.local_size());
  Require(param.local_size() <= INT_MAX,
          "local_size is too large: ", param.local_size());
  size_ = static_cast<int>(param.local_size());
  alpha_ = param.alpha();
  beta_ = param.beta();
  k_ = param.k();
}

template <typename Dtype>
void LRNLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                              const vector<Blob<Dtype>*>& top) {
  Require(bottom[0]->num_axes() == 4,
          "takes images of 4 axes (num, channels, height, width), not ",
          bottom[0]->shape_string());
  num_ = bottom[0]->num();
  channels_ = bottom[0]->channels();
  height_ = bottom[0]->height();
  width_ = bottom[0]->width();
  top[0]->ReshapeLike(*bottom[0]);
}

template <typename Dtype>
bool LRNLayer<Dtype>::IsAcrossChannels() const {
  return this->layer_param_.lrn_param().norm_region() ==
         LRNParameter::ACROSS_CHANNELS;
}

template <typename Dtype>
cpu::LrnShape LRNLayer<Dtype>::Shape() const {
  return {num_, channels_, height_, width_};
}

template <typename Dtype>
cpu::LrnSettings<Dtype> LRNLayer<Dtype>::Settings() const {
  if (IsAcrossChannels()) return {size_, alpha_ / size_, beta_, k_};
  return {size_, alpha_ / size_ / size_, beta_, Dtype(1)};
}

template <typename Dtype>
void LRNLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  const cpu::ScopedKernels scope(
      cpu::KernelsFor(this->layer_param_.lrn_param()));
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* const out = top[0]->mutable_cpu_data();
  if (IsAcrossChannels()) {
    cpu::LrnAcrossChannels(Shape(), Settings(), in, out);
  } else {
    cpu::LrnWithinChannel(Shape(), Settings(), in, out);
  }
}

template <typename Dtype>
void LRNLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  Require(top[0] != bottom[0],
          "cannot go backward after working in place: its bottom is gone");
  const cpu::ScopedKernels scope(
      cpu::KernelsFor(this->layer_param_.lrn_param()));
  const Dtype* const in = bottom[0]->cpu_data();
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  if (IsAcrossChannels()) {
    cpu::LrnAcrossChannelsBackward(Shape(), Settings(), in, top_diff,
                                   bottom_diff);
  } else {
    cpu::LrnWithinChannelBackward(Shape(), Settings(), in, top_diff,
                                  bottom_diff);
  }
}

INSTANTIATE_CLASS(LRNLayer);
REGISTER_LAYER_CLASS(LRN);

}  // namespace caffe
