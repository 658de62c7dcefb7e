#include "caffe/layers/contrastive_loss_layer.hpp"

#include <algorithm>
#include <cmath>

namespace caffe {

namespace {

// Whether the pair with this value of bottom 2 is alike; fractions are cut off.
template <typename Dtype>
bool IsAlike(Dtype value) {
  return std::trunc(value) != 0;
}

}  // namespace

template <typename Dtype>
void ContrastiveLossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  for (int i = 0; i < 2; ++i) {
    Require(bottom[i]->num_axes() <= 2 || bottom[i]->count(2) == 1,
            "takes one vector an item (N x C), not ",
            bottom[i]->shape_string());
  }
  Require(bottom[0]->count() == bottom[1]->count(),
          "its vectors must have the same length, not the shapes ",
          bottom[0]->shape_string(), " and ", bottom[1]->shape_string());
  Require(bottom[2]->count() == bottom[0]->shape(0),
          "its third bottom must have one value for each of the ",
          bottom[0]->shape(0), " pairs, not the shape ",
          bottom[2]->shape_string());
  diff_.ReshapeLike(*bottom[0]);
  dist_sq_.Reshape({bottom[0]->shape(0)});
}

template <typename Dtype>
void ContrastiveLossLayer<Dtype>::Forward_cpu(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  caffe_sub(diff_.count(), bottom[0]->cpu_data(), bottom[1]->cpu_data(),
            diff_.mutable_cpu_data());
  const ContrastiveLossParameter& param =
      this->layer_param_.contrastive_loss_param();
  const double margin = param.margin();
  const int pairs = bottom[0]->shape(0);
  const int length = bottom[0]->count(1);
  double loss = 0;
  for (int i = 0; i < pairs; ++i) {
    const Dtype* const difference = diff_.cpu_data() + int64_t{i} * length;
    const Dtype squared = caffe_cpu_dot(length, difference, difference);
    dist_sq_.mutable_cpu_data()[i] = squared;
    if (IsAlike(bottom[2]->cpu_data()[i])) {
      loss += squared;
    } else if (param.legacy_version()) {
      loss += std::max(margin - squared, 0.0);
    } else {
      const double missing = std::max(margin - std::sqrt(squared), 0.0);
      loss += missing * missing;
    }
  }
  top[0]->mutable_cpu_data()[0] = loss / pairs / 2;
}

template <typename Dtype>
Dtype ContrastiveLossLayer<Dtype>::Pull(bool alike,
                                        Dtype squared_distance) const {
  if (alike) return 1;
  const ContrastiveLossParameter& param =
      this->layer_param_.contrastive_loss_param();
  const Dtype margin = param.margin();
  if (param.legacy_version()) return squared_distance < margin ? -1 : 0;
  // So that equal vectors do not divide by zero.
  constexpr Dtype kSmall = 1e-4;
  const Dtype distance = std::sqrt(squared_distance);
  return std::min(Dtype(0), (distance - margin) / (distance + kSmall));
}

template <typename Dtype>
void ContrastiveLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[2], "whether pairs are alike has no gradient");
  const int pairs = bottom[0]->shape(0);
  const int length = bottom[0]->count(1);
  const Dtype scale = top[0]->cpu_diff()[0] / pairs;
  for (int side = 0; side < 2; ++side) {
    if (!propagate_down[side]) continue;
    for (int i = 0; i < pairs; ++i) {
      const int64_t first = int64_t{i} * length;
      const Dtype pull =
          Pull(IsAlike(bottom[2]->cpu_data()[i]), dist_sq_.cpu_data()[i]);
      caffe_cpu_scale(length, (side == 0 ? scale : -scale) * pull,
                      diff_.cpu_data() + first,
                      bottom[side]->mutable_cpu_diff() + first);
    }
  }
}

INSTANTIATE_CLASS(ContrastiveLossLayer);
REGISTER_LAYER_CLASS(ContrastiveLoss);

}  // namespace caffe
