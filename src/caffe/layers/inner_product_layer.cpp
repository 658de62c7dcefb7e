#include "caffe/layers/inner_product_layer.hpp"

#include <type_traits>
#include <typeinfo>

#include "cpu/convolution.hpp"
#include "cpu/inner_product.hpp"
#include "layers/weights_and_bias.hpp"

namespace caffe {

template <typename Dtype>
void InnerProductLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& /*top*/) {
  const InnerProductParameter& param = this->layer_param_.inner_product_param();
  Require(param.num_output() > 0 && param.num_output() <= INT_MAX,
          "num_output must be from 1 to ", INT_MAX, ", not ",
          param.num_output());
  N_ = static_cast<int>(param.num_output());
  bias_term_ = param.bias_term();
  transpose_ = param.transpose();
  K_ = bottom[0]->count(bottom[0]->CanonicalAxisIndex(param.axis()));
  Require(K_ > 0, "has no inputs: its bottom has the shape ",
          bottom[0]->shape_string());
  SetUpWeightsAndBias(param,
                      transpose_ ? vector<int>{K_, N_} : vector<int>{N_, K_},
                      {N_}, &this->blobs_);
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void InnerProductLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  const int axis = bottom[0]->CanonicalAxisIndex(
      this->layer_param_.inner_product_param().axis());
  Require(bottom[0]->count(axis) == K_, "has weights for ", K_,
          " inputs, not for the ", bottom[0]->count(axis),
          " of a bottom of shape ", bottom[0]->shape_string());
  M_ = bottom[0]->count(0, axis);
  vector<int> top_shape(bottom[0]->shape().begin(),
                        bottom[0]->shape().begin() + axis);
  top_shape.push_back(N_);
  top[0]->Reshape(top_shape);
  if (bias_term_ && bias_multiplier_.shape() != vector<int>{M_}) {
    bias_multiplier_.Reshape({M_});
    caffe_set(M_, Dtype(1), bias_multiplier_.mutable_cpu_data());
  }
}

template <typename Dtype>
cpu::InnerProductShape InnerProductLayer<Dtype>::Shape() const {
  return {.batch = M_, .in = K_, .out = N_, .transposed = transpose_};
}

template <typename Dtype>
void InnerProductLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                           const vector<Blob<Dtype>*>& top) {
  cpu::InnerProductForward(Shape(), bottom[0]->cpu_data(),
                           this->blobs_[0]->cpu_data(),
                           bias_term_ ? this->blobs_[1]->cpu_data() : nullptr,
                           top[0]->mutable_cpu_data());
}

template <typename Dtype>
void InnerProductLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  const Dtype* const top_diff = top[0]->cpu_diff();
  if (this->param_propagate_down_[0] && !this->leaves_to_rows(0)) {
    cpu::InnerProductWeightsGradient(Shape(), bottom[0]->cpu_data(), top_diff,
                                     this->blobs_[0]->mutable_cpu_diff());
  }
  if (bias_term_ && this->param_propagate_down_[1]) {
    cpu::AddBiasGradient(M_, N_, 1, top_diff,
                         this->blobs_[1]->mutable_cpu_diff());
  }
  if (propagate_down[0]) {
    cpu::InnerProductBackward(Shape(), top_diff, this->blobs_[0]->cpu_data(),
                              bottom[0]->mutable_cpu_diff());
  }
}

template <typename Dtype>
bool InnerProductLayer<Dtype>::has_row_gradients(const int param_id) const {
  // A subclass may have a Backward of its own. For doubles there is only BLAS,
  // whose last digits depend on how many rows there are.
  return param_id == 0 && std::is_same_v<Dtype, float> &&
         typeid(*this) == typeid(InnerProductLayer<Dtype>);
}

template <typename Dtype>
void InnerProductLayer<Dtype>::AddRowGradients(
    const int param_id, const vector<Blob<Dtype>*>& top,
    const vector<Blob<Dtype>*>& bottom, int first, int rows, Dtype* diff) {
  CHECK_EQ(param_id, 0);
  cpu::InnerProductRowGradients(Shape(), bottom[0]->cpu_data(),
                                top[0]->cpu_diff(), first, rows, diff);
}

INSTANTIATE_CLASS(InnerProductLayer);
REGISTER_LAYER_CLASS(InnerProduct);

}  // namespace caffe
