#include "caffe/layers/embed_layer.hpp"

#include "cpu/convolution.hpp"
#include "cpu/rows.hpp"
#include "layers/indices.hpp"
#include "layers/weights_and_bias.hpp"

namespace caffe {

namespace {

int Positive(const char* name, uint32_t value) {
  Require(value > 0 && value <= INT_MAX, name, " must be from 1 to ", INT_MAX,
          ", not ", value);
  return static_cast<int>(value);
}

constexpr char kRows[] = "rows of its weights";

}  // namespace

template <typename Dtype>
void EmbedLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                   const vector<Blob<Dtype>*>& /*top*/) {
  const EmbedParameter& param = this->layer_param_.embed_param();
  N_ = Positive("num_output", param.num_output());
  K_ = Positive("input_dim", param.input_dim());
  bias_term_ = param.bias_term();
  SetUpWeightsAndBias(param, {K_, N_}, {N_}, &this->blobs_);
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void EmbedLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  M_ = bottom[0]->count();
  vector<int> shape = bottom[0]->shape();
  shape.push_back(N_);
  top[0]->Reshape(shape);
}

template <typename Dtype>
void EmbedLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  Dtype* const out = top[0]->mutable_cpu_data();
  cpu::PickRows<Dtype>(ReadIndices(*bottom[0], K_, kRows), N_,
                       this->blobs_[0]->cpu_data(), out);
  if (bias_term_) cpu::AddBias(M_, N_, 1, this->blobs_[1]->cpu_data(), out);
}

template <typename Dtype>
void EmbedLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[0], "its indices have no gradient");
  const Dtype* const top_diff = top[0]->cpu_diff();
  if (this->param_propagate_down_[0]) {
    cpu::AddToRows<Dtype>(ReadIndices(*bottom[0], K_, kRows), N_, top_diff,
                          this->blobs_[0]->mutable_cpu_diff());
  }
  if (bias_term_ && this->param_propagate_down_[1]) {
    cpu::AddBiasGradient(M_, N_, 1, top_diff,
                         this->blobs_[1]->mutable_cpu_diff());
  }
}

INSTANTIATE_CLASS(EmbedLayer);
REGISTER_LAYER_CLASS(Embed);

}  // namespace caffe
