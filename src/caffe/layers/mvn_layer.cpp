#include "caffe/layers/mvn_layer.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/batch_norm.hpp"
#include "cpu/scale.hpp"

namespace caffe {

template <typename Dtype>
cpu::ChannelLayout MVNLayer<Dtype>::Groups(const Blob<Dtype>& blob) const {
  const bool across = this->layer_param_.mvn_param().across_channels();
  const int axis = across ? 1 : std::min(2, blob.num_axes());
  return {1, blob.count(0, axis), blob.count(axis)};
}

template <typename Dtype>
void MVNLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                              const vector<Blob<Dtype>*>& top) {
  Require(bottom[0]->num_axes() > 0, "cannot normalize a single number");
  normalize_variance_ = this->layer_param_.mvn_param().normalize_variance();
  kept_bottom_.set_in_place(top[0] == bottom[0]);
  top[0]->ReshapeLike(*bottom[0]);
  const int groups = static_cast<int>(Groups(*bottom[0]).channels);
  mean_.Reshape({groups});
  variance_.Reshape({groups});
}

template <typename Dtype>
BackwardReads MVNLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  if (!normalize_variance_) return reads;
  reads.buffers = {{"mean", mean_.data(), BackwardRead::kExact},
                   {"deviation", variance_.data(), BackwardRead::kExact}};
  kept_bottom_.AddTo(&reads, BackwardRead::kValues);
  return reads;
}

template <typename Dtype>
void MVNLayer<Dtype>::SubtractMean(const cpu::ChannelLayout& groups,
                                   const Dtype* in, Dtype* out) {
  Dtype* const offsets = mean_.mutable_cpu_data();
  cpu::ChannelMoments(groups, in, offsets, variance_.mutable_cpu_data());
  caffe_scal(mean_.count(), Dtype(-1), offsets);
  cpu::ScaleForward<Dtype>(groups, in, nullptr, offsets, out, nullptr);
}

template <typename Dtype>
void MVNLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  const cpu::ChannelLayout groups = Groups(*bottom[0]);
  const Dtype* const in = bottom[0]->cpu_data();
  if (normalize_variance_) kept_bottom_.Keep(*bottom[0]);
  Dtype* const out = top[0]->mutable_cpu_data();
  if (!normalize_variance_) return SubtractMean(groups, in, out);
  Dtype* const mean = mean_.mutable_cpu_data();
  Dtype* const deviation = variance_.mutable_cpu_data();
  cpu::ChannelMoments(groups, in, mean, deviation);
  const Dtype eps = this->layer_param_.mvn_param().eps();
  for (int i = 0; i < variance_.count(); ++i) {
    deviation[i] = std::sqrt(deviation[i]) + eps;
  }
  cpu::Normalize<Dtype>(groups, in, mean, deviation, out);
}

template <typename Dtype>
void MVNLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const cpu::ChannelLayout groups = Groups(*bottom[0]);
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  if (!normalize_variance_) return SubtractMean(groups, top_diff, bottom_diff);
  cpu::BatchNormBackward(groups, kept_bottom_.values(*bottom[0]),
                         mean_.cpu_data(), variance_.cpu_data(), top_diff,
                         bottom_diff);
}

INSTANTIATE_CLASS(MVNLayer);
REGISTER_LAYER_CLASS(MVN);

}  // namespace caffe
