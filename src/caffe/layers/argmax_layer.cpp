#include "caffe/layers/argmax_layer.hpp"

#include <algorithm>

#include "cpu/top_values.hpp"

namespace caffe {

template <typename Dtype>
void ArgMaxLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                    const vector<Blob<Dtype>*>& /*top*/) {
  const ArgMaxParameter& param = this->layer_param_.argmax_param();
  out_max_val_ = param.out_max_val();
  has_axis_ = param.has_axis();
  Require(param.top_k() >= 1 && param.top_k() <= INT_MAX,
          "top_k must be from 1 to ", INT_MAX, ", not ", param.top_k());
  top_k_ = static_cast<int>(param.top_k());
}

template <typename Dtype>
void ArgMaxLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                 const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  Require(bottom[0]->num_axes() > 0, "cannot look for more than one number");
  axis_ = bottom[0]->CanonicalAxisIndex(
      has_axis_ ? this->layer_param_.argmax_param().axis() : 0);
  const int values = has_axis_ ? bottom[0]->shape(axis_) : bottom[0]->count(1);
  Require(top_k_ <= values, "top_k is ", top_k_, ", but there are only ",
          values, " values to choose from in a blob of shape ",
          bottom[0]->shape_string());
  vector<int> shape = bottom[0]->shape();
  if (has_axis_) {
    shape[axis_] = top_k_;
  } else {
    const int images = shape[0];
    shape.assign(std::max(3, bottom[0]->num_axes()), 1);
    shape[0] = images;
    shape[1] = out_max_val_ ? 2 : 1;
    shape[2] = top_k_;
  }
  top[0]->Reshape(shape);
}

template <typename Dtype>
void ArgMaxLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* const out = top[0]->mutable_cpu_data();
  if (has_axis_) {
    const int inner = bottom[0]->count(axis_ + 1);
    cpu::TopValues<Dtype>(bottom[0]->count(0, axis_), bottom[0]->shape(axis_),
                          inner, top_k_, in, int64_t{top_k_} * inner,
                          out_max_val_ ? nullptr : out,
                          out_max_val_ ? out : nullptr);
  } else {
    cpu::TopValues<Dtype>(bottom[0]->shape(0), bottom[0]->count(1), 1, top_k_,
                          in, top[0]->count(1), out,
                          out_max_val_ ? out + top_k_ : nullptr);
  }
}

template <typename Dtype>
void ArgMaxLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                                      const vector<bool>& propagate_down,
                                      const vector<Blob<Dtype>*>& /*bottom*/) {
  Require(!propagate_down[0], "places of maxima have no gradient");
}

INSTANTIATE_CLASS(ArgMaxLayer);
REGISTER_LAYER_CLASS(ArgMax);

}  // namespace caffe
