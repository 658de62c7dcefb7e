#include "caffe/layers/loss_layer.hpp"

namespace caffe {

template <typename Dtype>
void LossLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                  const vector<Blob<Dtype>*>& top) {
  if (this->layer_param_.loss_weight_size() > 0) return;
  // Only the first top is the loss.
  for (size_t i = 0; i < top.size(); ++i) {
    this->layer_param_.add_loss_weight(i == 0 ? 1 : 0);
  }
}

template <typename Dtype>
void LossLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  Require(bottom[0]->shape(0) == bottom[1]->shape(0),
          "its data and its targets must have the same first axis, not ",
          bottom[0]->shape_string(), " and ", bottom[1]->shape_string());
  top[0]->Reshape(vector<int>());
}

INSTANTIATE_CLASS(LossLayer);

}  // namespace caffe
