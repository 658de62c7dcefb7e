#include "caffe/layers/euclidean_loss_layer.hpp"

namespace caffe {

template <typename Dtype>
void EuclideanLossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                        const vector<Blob<Dtype>*>& top) {
  LossLayer<Dtype>::Reshape(bottom, top);
  Require(bottom[0]->count(1) == bottom[1]->count(1),
          "its bottoms must have as many values an item, not ",
          bottom[0]->shape_string(), " and ", bottom[1]->shape_string());
  diff_.ReshapeLike(*bottom[0]);
}

template <typename Dtype>
void EuclideanLossLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                            const vector<Blob<Dtype>*>& top) {
  const int count = diff_.count();
  caffe_sub(count, bottom[0]->cpu_data(), bottom[1]->cpu_data(),
            diff_.mutable_cpu_data());
  const Dtype squares =
      caffe_cpu_dot(count, diff_.cpu_data(), diff_.cpu_data());
  top[0]->mutable_cpu_data()[0] = squares / bottom[0]->shape(0) / Dtype(2);
}

template <typename Dtype>
void EuclideanLossLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  const Dtype scale = top[0]->cpu_diff()[0] / bottom[0]->shape(0);
  for (int i = 0; i < 2; ++i) {
    if (!propagate_down[i]) continue;
    caffe_cpu_scale(diff_.count(), i == 0 ? scale : -scale, diff_.cpu_data(),
                    bottom[i]->mutable_cpu_diff());
  }
}

INSTANTIATE_CLASS(EuclideanLossLayer);
REGISTER_LAYER_CLASS(EuclideanLoss);

}  // namespace caffe
