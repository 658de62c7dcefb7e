#include "caffe/layers/pooling_layer.hpp"

#include "caffe/kept_values.hpp"
#include "cpu/engine.hpp"
#include "cpu/pooling.hpp"

namespace caffe {

namespace {

int ToInt(const char* name, uint32_t value) {
  Require(value <= INT_MAX, name, " is too large: ", value);
  return static_cast<int>(value);
}

// A setting is given for both axes at once, or for each of them.
void RequireOneOrBoth(const char* name, bool has_one, bool has_h, bool has_w) {
  Require(has_h == has_w, "needs both ", name, "_h and ", name,
          "_w, or neither");
  Require(!(has_one && has_h), "cannot have ", name, "_h and ", name,
          "_w beside the setting for both");
}

}  // namespace

template <typename Dtype>
void PoolingLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                     const vector<Blob<Dtype>*>& /*top*/) {
  const PoolingParameter& param = this->layer_param_.pooling_param();
  global_pooling_ = param.global_pooling();
  round_mode_ = param.round_mode();
  RequireOneOrBoth("kernel", param.has_kernel_size(), param.has_kernel_h(),
                   param.has_kernel_w());
  RequireOneOrBoth("pad", param.has_pad(), param.has_pad_h(),
                   param.has_pad_w());
  RequireOneOrBoth("stride", param.has_stride(), param.has_stride_h(),
                   param.has_stride_w());
  pad_h_ = ToInt("pad", param.has_pad_h() ? param.pad_h() : param.pad());
  pad_w_ = ToInt("pad", param.has_pad_w() ? param.pad_w() : param.pad());
  stride_h_ =
      ToInt("stride", param.has_stride_h() ? param.stride_h() : param.stride());
  stride_w_ =
      ToInt("stride", param.has_stride_w() ? param.stride_w() : param.stride());
  Require(stride_h_ > 0 && stride_w_ > 0, "its stride cannot be 0");
  SetKernel(param);
}

template <typename Dtype>
void PoolingLayer<Dtype>::SetKernel(const PoolingParameter& param) {
  const bool has_kernel = param.has_kernel_size() || param.has_kernel_h();
  if (global_pooling_) {
    Require(
        !has_kernel,
        "global_pooling takes the whole image: there can be no kernel size");
    Require(pad_h_ == 0 && pad_w_ == 0 && stride_h_ == 1 && stride_w_ == 1,
            "global_pooling takes the whole image: pad must be 0 and stride 1");
    return;
  }
  Require(has_kernel, "needs kernel_size, or kernel_h and kernel_w");
  kernel_h_ = ToInt("kernel_size", param.has_kernel_h() ? param.kernel_h()
                                                        : param.kernel_size());
  kernel_w_ = ToInt("kernel_size", param.has_kernel_w() ? param.kernel_w()
                                                        : param.kernel_size());
  Require(kernel_h_ > 0 && kernel_w_ > 0, "its kernel size cannot be 0");
  if (pad_h_ == 0 && pad_w_ == 0) return;
  Require(param.pool() != PoolingParameter::STOCHASTIC,
          "cannot pad with STOCHASTIC pooling");
  Require(pad_h_ < kernel_h_ && pad_w_ < kernel_w_,
          "its pad must be smaller than its kernel size");
}

template <typename Dtype>
int PoolingLayer<Dtype>::PooledExtent(const char* axis, int extent, int kernel,
                                      int stride, int pad) const {
  // The windows after the first, which also fits when it is larger than the
  // image by less than a stride.
  const int64_t room = int64_t{extent} + 2 * int64_t{pad} - kernel;
  int64_t steps = room / stride;
  const int64_t rest = room % stride;
  if (round_mode_ == PoolingParameter::CEIL && rest > 0) ++steps;
  if (round_mode_ == PoolingParameter::FLOOR && rest < 0) --steps;
  int64_t pooled = steps + 1;
  // The last window must begin inside the image or the padding before it. As
  // in Caffe, only padding on some axis brings that rule into force.
  if ((pad_h_ > 0 || pad_w_ > 0) &&
      (pooled - 1) * stride >= int64_t{extent} + pad) {
    --pooled;
  }
  Require(pooled >= 1, "its windows of ", kernel, " do not fit an image ", axis,
          " of ", extent);
  return static_cast<int>(pooled);
}

template <typename Dtype>
void PoolingLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  Require(bottom[0]->num_axes() == 4,
          "takes images of 4 axes (num, channels, height, width), not ",
          bottom[0]->shape_string());
  Require(top[0] != bottom[0] && (top.size() == 1 || top[1] != bottom[0]),
          "cannot work in place: its tops must be other blobs than its bottom");
  channels_ = bottom[0]->channels();
  height_ = bottom[0]->height();
  width_ = bottom[0]->width();
  Require(height_ > 0 && width_ > 0, "cannot pool images of shape ",
          bottom[0]->shape_string());
  if (global_pooling_) {
    kernel_h_ = height_;
    kernel_w_ = width_;
  }
  pooled_height_ =
      PooledExtent("height", height_, kernel_h_, stride_h_, pad_h_);
  pooled_width_ = PooledExtent("width", width_, kernel_w_, stride_w_, pad_w_);
  top[0]->Reshape(bottom[0]->num(), channels_, pooled_height_, pooled_width_);
  if (top.size() > 1) top[1]->ReshapeLike(*top[0]);
  const PoolingParameter_PoolMethod method =
      this->layer_param_.pooling_param().pool();
  if (method == PoolingParameter::MAX) {
    const size_t bytes =
        top[0]->count() *
        (HasBytePositions() ? sizeof(uint8_t) : sizeof(int32_t));
    FitMemory(bytes, &max_idx_);
  } else if (method == PoolingParameter::STOCHASTIC) {
    rand_idx_.ReshapeLike(*top[0]);
  }
}

template <typename Dtype>
bool PoolingLayer<Dtype>::HasBytePositions() const {
  return int64_t{kernel_h_} * kernel_w_ < cpu::kNoPosition<uint8_t>;
}

template <typename Dtype>
cpu::PoolingShape PoolingLayer<Dtype>::Shape(const Blob<Dtype>& bottom) const {
  return {.planes = bottom.count(0, 2),
          .rows = {height_, pooled_height_, kernel_h_, stride_h_, pad_h_},
          .columns = {width_, pooled_width_, kernel_w_, stride_w_, pad_w_}};
}

template <typename Dtype>
BackwardReads PoolingLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  if (max_idx_ != nullptr) {
    reads.buffers.push_back({"positions", max_idx_, BackwardRead::kExact});
  }
  return reads;
}

template <typename Dtype>
void PoolingLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  const PoolingParameter& param = this->layer_param_.pooling_param();
  const cpu::ScopedKernels scope(cpu::KernelsFor(param));
  const cpu::PoolingShape shape = Shape(*bottom[0]);
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* const out = top[0]->mutable_cpu_data();
  switch (param.pool()) {
    case PoolingParameter::MAX:
      WithPositions([&](auto* positions) {
        cpu::MaxPoolingForward(shape, in, out, positions);
        if (top.size() > 1) {
          cpu::MaxPoolingIndices(shape, positions, top[1]->mutable_cpu_data());
        }
      });
      break;
    case PoolingParameter::AVE:
      cpu::AveragePoolingForward(shape, in, out);
      break;
    case PoolingParameter::STOCHASTIC:
      if (this->phase_ == TRAIN) {
        Dtype* const choices = rand_idx_.mutable_cpu_data();
        caffe_rng_uniform(top[0]->count(), Dtype(0), Dtype(1), choices);
        cpu::StochasticPoolingForward(shape, in, out, choices);
      } else {
        cpu::ExpectedPooling(shape, in, out);
      }
      break;
  }
}

template <typename Dtype>
void PoolingLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                       const vector<bool>& propagate_down,
                                       const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const PoolingParameter& param = this->layer_param_.pooling_param();
  const cpu::ScopedKernels scope(cpu::KernelsFor(param));
  const cpu::PoolingShape shape = Shape(*bottom[0]);
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  switch (param.pool()) {
    case PoolingParameter::MAX:
      WithPositions([&](const auto* positions) {
        cpu::MaxPoolingBackward(shape, top_diff, positions, bottom_diff);
      });
      break;
    case PoolingParameter::AVE:
      cpu::AveragePoolingBackward(shape, top_diff, bottom_diff);
      break;
    case PoolingParameter::STOCHASTIC:
      Require(this->phase_ == TRAIN,
              "STOCHASTIC pooling has gradients in the training phase only");
      cpu::StochasticPoolingBackward(shape, top_diff, rand_idx_.cpu_data(),
                                     bottom_diff);
      break;
  }
}

template <typename Dtype>
template <typename Work>
void PoolingLayer<Dtype>::WithPositions(const Work& work) {
  void* const memory = max_idx_->mutable_cpu_data();
  if (HasBytePositions()) {
    work(static_cast<uint8_t*>(memory));
  } else {
    work(static_cast<int32_t*>(memory));
  }
}

INSTANTIATE_CLASS(PoolingLayer);
REGISTER_LAYER_CLASS(Pooling);

}  // namespace caffe
