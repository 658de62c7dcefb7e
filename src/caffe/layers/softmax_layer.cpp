#include "caffe/layers/softmax_layer.hpp"

#include "cpu/softmax.hpp"

namespace caffe {

template <typename Dtype>
void SoftmaxLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  softmax_axis_ =
      bottom[0]->CanonicalAxisIndex(this->layer_param_.softmax_param().axis());
  outer_num_ = bottom[0]->count(0, softmax_axis_);
  inner_num_ = bottom[0]->count(softmax_axis_ + 1);
  top[0]->ReshapeLike(*bottom[0]);
}

template <typename Dtype>
void SoftmaxLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  cpu::Softmax(outer_num_, bottom[0]->shape(softmax_axis_), inner_num_,
               bottom[0]->cpu_data(), top[0]->mutable_cpu_data());
}

template <typename Dtype>
void SoftmaxLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                       const vector<bool>& propagate_down,
                                       const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::SoftmaxBackward(outer_num_, top[0]->shape(softmax_axis_), inner_num_,
                       top[0]->cpu_data(), top[0]->cpu_diff(),
                       bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SoftmaxLayer);
REGISTER_LAYER_CLASS(Softmax);

}  // namespace caffe
