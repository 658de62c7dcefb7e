#include "caffe/layers/batch_norm_layer.hpp"

#include <typeinfo>

#include "cpu/batch_norm.hpp"
#include "cpu/scale.hpp"

namespace caffe {

namespace {

template <typename Dtype>
cpu::ChannelLayout LayoutOf(const Blob<Dtype>& blob, int channels) {
  const int num = blob.shape(0);
  return {num, channels, blob.num_axes() == 1 ? 1 : blob.count(2)};
}

}  // namespace

template <typename Dtype>
void BatchNormLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& /*top*/) {
  const BatchNormParameter& param = this->layer_param_.batch_norm_param();
  moving_average_fraction_ = param.moving_average_fraction();
  use_global_stats_ = param.has_use_global_stats() ? param.use_global_stats()
                                                   : this->phase_ == TEST;
  eps_ = param.eps();
  Require(bottom[0]->num_axes() >= 1, "cannot normalize a single number");
  channels_ = bottom[0]->num_axes() == 1 ? 1 : bottom[0]->shape(1);
  const vector<vector<int>> shapes = {{channels_}, {channels_}, {1}};
  if (this->blobs_.empty()) {
    for (const vector<int>& shape : shapes) {
      this->blobs_.push_back(boost::make_shared<Blob<Dtype>>(shape));
    }
  }
  Require(this->blobs_.size() == shapes.size(),
          "takes 3 parameter blobs (mean, variance and their weight), not ",
          this->blobs_.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    Require(this->blobs_[i]->shape() == shapes[i], "its parameter ", i,
            " has the shape ", this->blobs_[i]->shape_string(),
            " where the bottom's ", channels_, " channels ask for ",
            shapes[i][0], " value(s)");
  }
  FreezeParameters();
}

template <typename Dtype>
void BatchNormLayer<Dtype>::FreezeParameters() {
  for (int i = 0; i < static_cast<int>(this->blobs_.size()); ++i) {
    if (i == this->layer_param_.param_size()) {
      this->layer_param_.add_param()->set_lr_mult(0);
    }
    Require(this->layer_param_.param(i).lr_mult() == 0,
            "its parameters are statistics: their lr_mult must be 0, not ",
            this->layer_param_.param(i).lr_mult());
  }
}

template <typename Dtype>
void BatchNormLayer<Dtype>::RequireChannels(const Blob<Dtype>& bottom) const {
  const int channels = bottom.num_axes() == 1 ? 1 : bottom.shape(1);
  Require(channels == channels_, "was made for ", channels_,
          " channels, but its bottom has the shape ", bottom.shape_string());
  Require(bottom.count() > 0, "cannot normalize an empty batch");
}

template <typename Dtype>
void BatchNormLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  RequireChannels(*bottom[0]);
  top[0]->ReshapeLike(*bottom[0]);
  mean_.Reshape({channels_});
  variance_.Reshape({channels_});
  keeps_copy_ = top[0] == bottom[0] && !use_global_stats_;
  if (keeps_copy_) {
    // Parts of a batch need no memory for all of it.
    const TightReshape tight;
    x_norm_.ReshapeLike(*bottom[0]);
  }
}

template <typename Dtype>
BackwardReads BatchNormLayer<Dtype>::backward_reads() const {
  if (use_global_stats_) return BackwardReads::Nothing();
  if (!keeps_copy_) return BackwardReads::OfBottoms(BackwardRead::kValues);
  BackwardReads reads = BackwardReads::Nothing();
  reads.buffers = {{"x_norm", x_norm_.data(), BackwardRead::kValues}};
  return reads;
}

template <typename Dtype>
void BatchNormLayer<Dtype>::UseAverages() {
  const Dtype weight = this->blobs_[2]->cpu_data()[0];
  const Dtype factor = weight == 0 ? 0 : 1 / weight;
  caffe_cpu_scale(channels_, factor, this->blobs_[0]->cpu_data(),
                  mean_.mutable_cpu_data());
  caffe_cpu_scale(channels_, factor, this->blobs_[1]->cpu_data(),
                  variance_.mutable_cpu_data());
}

template <typename Dtype>
void BatchNormLayer<Dtype>::UpdateAverages(int values) {
  const Dtype fraction = moving_average_fraction_;
  Dtype& weight = this->blobs_[2]->mutable_cpu_data()[0];
  weight = weight * fraction + 1;
  caffe_cpu_axpby(channels_, Dtype(1), mean_.cpu_data(), fraction,
                  this->blobs_[0]->mutable_cpu_data());
  // The variance of the batch is a little below that of its source.
  const Dtype correction = values > 1 ? Dtype(values) / (values - 1) : Dtype(1);
  caffe_cpu_axpby(channels_, correction, variance_.cpu_data(), fraction,
                  this->blobs_[1]->mutable_cpu_data());
}

template <typename Dtype>
bool BatchNormLayer<Dtype>::gathers_first() const {
  // A subclass may have a Forward of its own.
  return !use_global_stats_ && typeid(*this) == typeid(BatchNormLayer<Dtype>);
}

template <typename Dtype>
void BatchNormLayer<Dtype>::TakeRoots() {
  caffe_add_scalar(channels_, eps_, variance_.mutable_cpu_data());
  caffe_sqrt(channels_, variance_.cpu_data(), variance_.mutable_cpu_data());
}

template <typename Dtype>
void BatchNormLayer<Dtype>::StartForward(const vector<Blob<Dtype>*>& bottom) {
  RequireChannels(*bottom[0]);
  runs_in_parts_ = true;
  cpu::ChannelMoments(LayoutOf(*bottom[0], channels_), bottom[0]->cpu_data(),
                      mean_.mutable_cpu_data(), variance_.mutable_cpu_data());
  UpdateAverages(bottom[0]->count() / channels_);
  factors_.resize(channels_);
  cpu::BatchNormFactors(channels_, eps_, variance_.cpu_data(), factors_.data());
  TakeRoots();
}

template <typename Dtype>
void BatchNormLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                        const vector<Blob<Dtype>*>& top) {
  const cpu::ChannelLayout layout = LayoutOf(*bottom[0], channels_);
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* const out = top[0]->mutable_cpu_data();
  if (use_global_stats_) {
    UseAverages();
    TakeRoots();
    cpu::Normalize(layout, in, mean_.cpu_data(), variance_.cpu_data(), out);
    return;
  }
  Dtype* const copy = keeps_copy_ ? x_norm_.mutable_cpu_data() : nullptr;
  if (runs_in_parts_) {
    cpu::BatchNormApply(layout, in, mean_.cpu_data(), factors_.data(), out,
                        copy);
  } else {
    cpu::BatchNormForward(layout, eps_, in, mean_.mutable_cpu_data(),
                          variance_.mutable_cpu_data(), out, copy);
    UpdateAverages(bottom[0]->count() / channels_);
    TakeRoots();
  }
  if (keeps_copy_) top[0]->data()->set_twin(x_norm_.data());
}

template <typename Dtype>
const Dtype* BatchNormLayer<Dtype>::KeptInput(const Blob<Dtype>& bottom) const {
  return keeps_copy_ ? x_norm_.cpu_data() : bottom.cpu_data();
}

template <typename Dtype>
const Dtype* BatchNormLayer<Dtype>::MeanOfKept() const {
  return keeps_copy_ ? nullptr : mean_.cpu_data();
}

template <typename Dtype>
void BatchNormLayer<Dtype>::StartBackward() {
  runs_in_parts_ = true;
  gathered_values_ = 0;
  sums_.assign(channels_, 0);
  products_.assign(channels_, 0);
}

template <typename Dtype>
void BatchNormLayer<Dtype>::GatherBackward(const vector<Blob<Dtype>*>& top,
                                           const vector<Blob<Dtype>*>& bottom) {
  const cpu::ChannelLayout layout = LayoutOf(*bottom[0], channels_);
  gathered_values_ += layout.values();
  cpu::AddBatchNormSums(layout, KeptInput(*bottom[0]), MeanOfKept(),
                        top[0]->cpu_diff(), sums_.data(), products_.data());
}

template <typename Dtype>
void BatchNormLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                         const vector<bool>& propagate_down,
                                         const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const cpu::ChannelLayout layout = LayoutOf(*bottom[0], channels_);
  const Dtype* const deviation = variance_.cpu_data();
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  if (use_global_stats_) {
    vector<Dtype> factors(channels_);
    for (int c = 0; c < channels_; ++c) factors[c] = 1 / deviation[c];
    cpu::ScaleForward<Dtype>(layout, top_diff, factors.data(), nullptr,
                             bottom_diff, nullptr);
  } else if (runs_in_parts_) {
    cpu::BatchNormBackwardWithSums<Dtype>(
        layout, gathered_values_, sums_.data(), products_.data(),
        KeptInput(*bottom[0]), MeanOfKept(), deviation, top_diff, bottom_diff);
  } else {
    cpu::BatchNormBackward<Dtype>(layout, KeptInput(*bottom[0]), MeanOfKept(),
                                  deviation, top_diff, bottom_diff);
  }
}

INSTANTIATE_CLASS(BatchNormLayer);
REGISTER_LAYER_CLASS(BatchNorm);

}  // namespace caffe
