#include "caffe/layers/im2col_layer.hpp"

#include "caffe/util/im2col.hpp"
#include "layers/window_settings.hpp"

namespace caffe {

template <typename Dtype>
void Im2colLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& /*top*/) {
  const ConvolutionParameter& param = this->layer_param_.convolution_param();
  channel_axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  num_spatial_axes_ = bottom[0]->num_axes() - channel_axis_ - 1;
  Require(num_spatial_axes_ > 0,
          "takes images with at least one axis behind "
          "the channels, not a blob of shape ",
          bottom[0]->shape_string());
  WindowSettings windows = ReadWindowSettings(param, num_spatial_axes_);
  kernel_shape_ = std::move(windows.kernel);
  stride_ = std::move(windows.stride);
  pad_ = std::move(windows.pad);
  dilation_ = std::move(windows.dilation);
}

template <typename Dtype>
void Im2colLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                 const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  const int first_spatial_axis = channel_axis_ + 1;
  Require(bottom[0]->num_axes() == first_spatial_axis + num_spatial_axes_,
          "was set up for bottoms of ", first_spatial_axis + num_spatial_axes_,
          " axes, not for one of shape ", bottom[0]->shape_string());
  vector<int> shape = bottom[0]->shape();
  int64_t values = shape[channel_axis_];
  for (int i = 0; i < num_spatial_axes_; ++i) {
    values *= kernel_shape_[i];
    Require(values <= INT_MAX, "its windows have more than ", INT_MAX,
            " values");
    int& extent = shape[first_spatial_axis + i];
    const int64_t places =
        CountWindows(i, extent, WindowExtent(kernel_shape_[i], dilation_[i]),
                     stride_[i], pad_[i]);
    Require(places <= INT_MAX, "there are more than ", INT_MAX,
            " windows along spatial axis ", i);
    extent = static_cast<int>(places);
  }
  shape[channel_axis_] = static_cast<int>(values);
  top[0]->Reshape(shape);
  num_ = bottom[0]->count(0, channel_axis_);
  bottom_dim_ = bottom[0]->count(channel_axis_);
  top_dim_ = top[0]->count(channel_axis_);
}

template <typename Dtype>
void Im2colLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  const Dtype* const in = bottom[0]->cpu_data();
  Dtype* const out = top[0]->mutable_cpu_data();
  for (int n = 0; n < num_; ++n) {
    im2col_nd_cpu(in + int64_t{n} * bottom_dim_, num_spatial_axes_,
                  bottom[0]->shape().data() + channel_axis_,
                  top[0]->shape().data() + channel_axis_, kernel_shape_.data(),
                  pad_.data(), stride_.data(), dilation_.data(),
                  out + int64_t{n} * top_dim_);
  }
}

template <typename Dtype>
void Im2colLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                      const vector<bool>& propagate_down,
                                      const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const Dtype* const top_diff = top[0]->cpu_diff();
  Dtype* const bottom_diff = bottom[0]->mutable_cpu_diff();
  for (int n = 0; n < num_; ++n) {
    col2im_nd_cpu(top_diff + int64_t{n} * top_dim_, num_spatial_axes_,
                  bottom[0]->shape().data() + channel_axis_,
                  top[0]->shape().data() + channel_axis_, kernel_shape_.data(),
                  pad_.data(), stride_.data(), dilation_.data(),
                  bottom_diff + int64_t{n} * bottom_dim_);
  }
}

INSTANTIATE_CLASS(Im2colLayer);
REGISTER_LAYER_CLASS(Im2col);

}  // namespace caffe
