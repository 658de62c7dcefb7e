#include "caffe/layers/prelu_layer.hpp"

#include "cpu/mask.hpp"
#include "cpu/piecewise.hpp"
#include "layers/broadcast.hpp"

namespace caffe {

namespace {

template <typename Dtype>
void RequireChannels(const Blob<Dtype>& bottom) {
  Require(bottom.num_axes() >= 2,
          "takes bottoms of at least 2 axes (num, channels, ...), not ",
          bottom.shape_string());
}

}  // namespace

template <typename Dtype>
void PReLULayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& /*top*/) {
  const PReLUParameter& param = this->layer_param_.prelu_param();
  channel_shared_ = param.channel_shared();
  RequireChannels(*bottom[0]);
  if (this->blobs_.empty()) {
    FillerParameter quarter;
    quarter.set_value(0.25);
    const vector<int> shape =
        channel_shared_ ? vector<int>() : vector<int>{bottom[0]->shape(1)};
    this->blobs_.push_back(MakeParameter<Dtype>(
        shape, param.has_filler() ? param.filler() : quarter));
  }
  Require(this->blobs_.size() == 1, "takes 1 parameter blob, not ",
          this->blobs_.size());
  this->param_propagate_down_.resize(1, true);
}

template <typename Dtype>
void PReLULayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  RequireChannels(*bottom[0]);
  const int64_t slopes = LayoutOf(*bottom[0]).channels;
  Require(this->blobs_[0]->count() == slopes, "has ", this->blobs_[0]->count(),
          " slope(s) where a bottom of shape ", bottom[0]->shape_string(),
          " asks for ", slopes);
  NeuronLayer<Dtype>::Reshape(bottom, top);
  mask_.Reshape(cpu::MaskWords(bottom[0]->count()));
  kept_bottom_.set_in_place(top[0] == bottom[0]);
}

template <typename Dtype>
cpu::ChannelLayout PReLULayer<Dtype>::LayoutOf(
    const Blob<Dtype>& bottom) const {
  if (channel_shared_) return {bottom.shape(0), 1, bottom.count(1)};
  return {bottom.shape(0), bottom.shape(1), bottom.count(2)};
}

template <typename Dtype>
BackwardReads PReLULayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  mask_.AddTo(&reads);
  if (this->param_propagate_down(0)) {
    kept_bottom_.AddTo(&reads, BackwardRead::kValues);
  }
  return reads;
}

template <typename Dtype>
void PReLULayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  if (this->param_propagate_down(0)) {
    kept_bottom_.Keep(*bottom[0]);
  } else {
    kept_bottom_.Drop();
  }
  cpu::Prelu(LayoutOf(*bottom[0]), this->blobs_[0]->cpu_data(),
             bottom[0]->cpu_data(), top[0]->mutable_cpu_data(),
             mask_.mutable_bits());
}

template <typename Dtype>
void PReLULayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  const cpu::ChannelLayout layout = LayoutOf(*bottom[0]);
  const Dtype* const top_diff = top[0]->cpu_diff();
  // First, as the gradient of the bottom may take the place of the top's.
  if (this->param_propagate_down(0)) {
    cpu::PreluSlopesBackward(layout, mask_.bits(),
                             kept_bottom_.values(*bottom[0]), top_diff,
                             this->blobs_[0]->mutable_cpu_diff());
  }
  if (!propagate_down[0]) return;
  cpu::PreluBackward(layout, this->blobs_[0]->cpu_data(), mask_.bits(),
                     top_diff, bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(PReLULayer);
REGISTER_LAYER_CLASS(PReLU);

}  // namespace caffe
