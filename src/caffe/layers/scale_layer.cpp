#include "caffe/layers/scale_layer.hpp"

#include "cpu/scale.hpp"
#include "layers/broadcast.hpp"

namespace caffe {

template <typename Dtype>
void ScaleLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& /*top*/) {
  const ScaleParameter& param = this->layer_param_.scale_param();
  has_two_bottoms_ = bottom.size() > 1;
  const bool has_factors = !has_two_bottoms_;
  if (this->blobs_.empty()) {
    const vector<int> shape =
        has_factors ? ParameterShape(*bottom[0], param.axis(), param.num_axes())
                    : bottom[1]->shape();
    if (has_factors) {
      FillerParameter ones;
      ones.set_value(1);
      this->blobs_.push_back(MakeParameter<Dtype>(
          shape, param.has_filler() ? param.filler() : ones));
    }
    if (param.bias_term()) {
      this->blobs_.push_back(MakeParameter<Dtype>(shape, param.bias_filler()));
    }
  }
  const size_t parameters = (has_factors ? 1 : 0) + (param.bias_term() ? 1 : 0);
  Require(this->blobs_.size() == parameters, "takes ", parameters,
          " parameter blob(s), not ", this->blobs_.size());
  bias_param_id_ = param.bias_term() ? static_cast<int>(parameters) - 1 : -1;
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void ScaleLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  const int axis = this->layer_param_.scale_param().axis();
  const Blob<Dtype>& scale = has_two_bottoms_ ? *bottom[1] : *this->blobs_[0];
  const cpu::ChannelLayout layout = BroadcastLayout(*bottom[0], scale, axis);
  axis_ = scale.num_axes() == 0 ? 0 : bottom[0]->CanonicalAxisIndex(axis);
  outer_dim_ = layout.num;
  scale_dim_ = layout.channels;
  inner_dim_ = layout.inner;
  if (bias_param_id_ >= 0) {
    const Blob<Dtype>& bias = *this->blobs_[bias_param_id_];
    Require(bias.shape() == scale.shape(), "its bias has the shape ",
            bias.shape_string(), ", but its scale ", scale.shape_string());
  }
  kept_bottom_.set_in_place(top[0] == bottom[0]);
  top[0]->ReshapeLike(*bottom[0]);
}

template <typename Dtype>
BackwardReads ScaleLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  // Of the factors each meets many gradients, where its error would not cancel.
  if (has_two_bottoms_) {
    reads.bottoms = {BackwardRead::kNothing, BackwardRead::kExact};
  }
  if (HasFactorGradient()) kept_bottom_.AddTo(&reads, BackwardRead::kValues);
  return reads;
}

template <typename Dtype>
void ScaleLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* copy = nullptr;
  if (HasFactorGradient()) {
    copy = kept_bottom_.PlaceForCopy(*bottom[0]);
  } else {
    kept_bottom_.Drop();
  }
  const Blob<Dtype>& scale = has_two_bottoms_ ? *bottom[1] : *this->blobs_[0];
  cpu::ScaleForward<Dtype>(
      {outer_dim_, scale_dim_, inner_dim_}, in, scale.cpu_data(),
      bias_param_id_ < 0 ? nullptr : this->blobs_[bias_param_id_]->cpu_data(),
      top[0]->mutable_cpu_data(), copy);
}

template <typename Dtype>
void ScaleLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  const Blob<Dtype>& scale = has_two_bottoms_ ? *bottom[1] : *this->blobs_[0];
  cpu::ScaleGradients<Dtype> gradients;
  if (propagate_down[0]) gradients.in = bottom[0]->mutable_cpu_diff();
  if (!has_two_bottoms_) {
    if (this->param_propagate_down_[0]) {
      gradients.factors = this->blobs_[0]->mutable_cpu_diff();
    }
  } else if (propagate_down[1]) {
    gradients.factors = bottom[1]->mutable_cpu_diff();
    caffe_set(scale_dim_, Dtype(0), gradients.factors);
  }
  if (bias_param_id_ >= 0 && this->param_propagate_down_[bias_param_id_]) {
    gradients.offsets = this->blobs_[bias_param_id_]->mutable_cpu_diff();
  }
  const Dtype* const in =
      gradients.factors == nullptr ? nullptr : kept_bottom_.values(*bottom[0]);
  cpu::ScaleBackward<Dtype>({outer_dim_, scale_dim_, inner_dim_}, in,
                            scale.cpu_data(), top[0]->cpu_diff(), gradients);
}

INSTANTIATE_CLASS(ScaleLayer);
REGISTER_LAYER_CLASS(Scale);

}  // namespace caffe
