#include "caffe/layers/bias_layer.hpp"

#include "cpu/scale.hpp"
#include "layers/broadcast.hpp"

namespace caffe {

template <typename Dtype>
void BiasLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& /*top*/) {
  const BiasParameter& param = this->layer_param_.bias_param();
  if (bottom.size() == 1 && this->blobs_.empty()) {
    this->blobs_.push_back(MakeParameter<Dtype>(
        ParameterShape(*bottom[0], param.axis(), param.num_axes()),
        param.filler()));
  }
  const size_t parameters = bottom.size() == 1 ? 1 : 0;
  Require(this->blobs_.size() == parameters, "takes ", parameters,
          " parameter blob(s), not ", this->blobs_.size());
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void BiasLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  const Blob<Dtype>& bias = bottom.size() > 1 ? *bottom[1] : *this->blobs_[0];
  const cpu::ChannelLayout layout =
      BroadcastLayout(*bottom[0], bias, this->layer_param_.bias_param().axis());
  outer_dim_ = layout.num;
  bias_dim_ = layout.channels;
  inner_dim_ = layout.inner;
  if (top[0] != bottom[0]) top[0]->ReshapeLike(*bottom[0]);
}

template <typename Dtype>
void BiasLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  const Blob<Dtype>& bias = bottom.size() > 1 ? *bottom[1] : *this->blobs_[0];
  cpu::ScaleForward<Dtype>({outer_dim_, bias_dim_, inner_dim_},
                           bottom[0]->cpu_data(), nullptr, bias.cpu_data(),
                           top[0]->mutable_cpu_data(), nullptr);
}

template <typename Dtype>
void BiasLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  cpu::ScaleGradients<Dtype> gradients;
  if (propagate_down[0]) gradients.in = bottom[0]->mutable_cpu_diff();
  if (bottom.size() == 1) {
    if (this->param_propagate_down_[0]) {
      gradients.offsets = this->blobs_[0]->mutable_cpu_diff();
    }
  } else if (propagate_down[1]) {
    gradients.offsets = bottom[1]->mutable_cpu_diff();
    caffe_set(bias_dim_, Dtype(0), gradients.offsets);
  }
  cpu::ScaleBackward<Dtype>({outer_dim_, bias_dim_, inner_dim_}, nullptr,
                            nullptr, top[0]->cpu_diff(), gradients);
}

INSTANTIATE_CLASS(BiasLayer);
REGISTER_LAYER_CLASS(Bias);

}  // namespace caffe
