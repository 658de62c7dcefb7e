#include "caffe/layers/base_conv_layer.hpp"

#include <algorithm>

#include "cpu/convolution.hpp"
#include "cpu/convolution_gemm.hpp"
#include "layers/weights_and_bias.hpp"
#include "layers/window_settings.hpp"

namespace caffe {

namespace {

void Assign(const vector<int>& values, Blob<int>* blob) {
  // Without spatial axes there is still one, unused, entry.
  blob->Reshape({std::max<int>(1, values.size())});
  std::copy(values.begin(), values.end(), blob->mutable_cpu_data());
}

vector<int> Values(const Blob<int>& blob, int count) {
  return {blob.cpu_data(), blob.cpu_data() + count};
}

bool All(const vector<int>& values, int value) {
  return std::all_of(values.begin(), values.end(),
                     [=](int v) { return v == value; });
}

// The product of the extents from `first` on, which blobs count with an int
// even when they have no images.
int CountFrom(const vector<int>& shape, int first) {
  int64_t count = 1;
  for (size_t i = first; i < shape.size(); ++i) {
    count *= shape[i];
    Require(count <= INT_MAX, "an image cannot have more than ", INT_MAX,
            " values");
  }
  return static_cast<int>(count);
}

}  // namespace

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::LayerSetUp(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& /*top*/) {
  const ConvolutionParameter& param = this->layer_param_.convolution_param();
  channel_axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  num_spatial_axes_ = bottom[0]->num_axes() - channel_axis_ - 1;
  channels_ = bottom[0]->shape(channel_axis_);
  ReadSettings(param);
  MakeParameters(param);
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::ReadSettings(
    const ConvolutionParameter& param) {
  const auto [kernel, stride, pad, dilation] =
      ReadWindowSettings(param, num_spatial_axes_);
  Assign(kernel, &kernel_shape_);
  Assign(stride, &stride_);
  Assign(pad, &pad_);
  Assign(dilation, &dilation_);
  is_1x1_ = All(kernel, 1) && All(stride, 1) && All(pad, 0);
  force_nd_im2col_ = param.force_nd_im2col();

  Require(param.num_output() > 0 && param.num_output() <= INT_MAX,
          "num_output must be from 1 to ", INT_MAX, ", not ",
          param.num_output());
  Require(param.group() > 0 && param.group() <= INT_MAX,
          "group must be from 1 to ", INT_MAX, ", not ", param.group());
  num_output_ = static_cast<int>(param.num_output());
  group_ = static_cast<int>(param.group());
  Require(channels_ > 0, "cannot convolve a bottom without channels");
  Require(channels_ % group_ == 0, "group ", group_, " does not divide the ",
          channels_, " channels of its bottom");
  Require(num_output_ % group_ == 0, "group ", group_,
          " does not divide num_output ", num_output_);
  conv_out_channels_ = reverse_dimensions() ? channels_ : num_output_;
  conv_in_channels_ = reverse_dimensions() ? num_output_ : channels_;
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::MakeParameters(
    const ConvolutionParameter& param) {
  vector<int> weight_shape = {conv_out_channels_, conv_in_channels_ / group_};
  for (const int extent : Values(kernel_shape_, num_spatial_axes_)) {
    weight_shape.push_back(extent);
  }
  bias_term_ = param.bias_term();
  SetUpWeightsAndBias(param, weight_shape, {num_output_}, &this->blobs_);
  kernel_dim_ = CountFrom(weight_shape, 1);
  weight_offset_ = this->blobs_[0]->count() / group_;
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& top) {
  const int first_spatial_axis = channel_axis_ + 1;
  Require(bottom[0]->num_axes() == first_spatial_axis + num_spatial_axes_,
          "was set up for bottoms of ", first_spatial_axis + num_spatial_axes_,
          " axes, not for one of shape ", bottom[0]->shape_string());
  Require(bottom[0]->shape(channel_axis_) == channels_, "has weights for ",
          channels_, " channels, not for a bottom of shape ",
          bottom[0]->shape_string());
  for (const Blob<Dtype>* other : bottom) {
    Require(other->shape() == bottom[0]->shape(),
            "takes bottoms of one shape, not ", bottom[0]->shape_string(),
            " and ", other->shape_string());
  }
  bottom_shape_ = &bottom[0]->shape();
  num_ = bottom[0]->count(0, channel_axis_);
  compute_output_shape();
  vector<int> top_shape(bottom_shape_->begin(),
                        bottom_shape_->begin() + channel_axis_);
  top_shape.push_back(num_output_);
  top_shape.insert(top_shape.end(), output_shape_.begin(), output_shape_.end());
  bottom_dim_ = CountFrom(*bottom_shape_, channel_axis_);
  top_dim_ = CountFrom(top_shape, channel_axis_);
  for (Blob<Dtype>* blob : top) blob->Reshape(top_shape);

  out_spatial_dim_ = top_dim_ / num_output_;
  const bool reversed = reverse_dimensions();
  const vector<int>& conv_input = reversed ? top_shape : *bottom_shape_;
  const vector<int>& conv_output = reversed ? *bottom_shape_ : top_shape;
  conv_out_spatial_dim_ = CountFrom(conv_output, first_spatial_axis);
  col_offset_ = int64_t{kernel_dim_} * conv_out_spatial_dim_;
  output_offset_ = conv_out_channels_ / group_ * conv_out_spatial_dim_;
  Assign({conv_input.begin() + channel_axis_, conv_input.end()},
         &conv_input_shape_);
  col_buffer_shape_ = {kernel_dim_ * group_};
  col_buffer_shape_.insert(col_buffer_shape_.end(),
                           conv_output.begin() + first_spatial_axis,
                           conv_output.end());
}

template <typename Dtype>
int64_t BaseConvolutionLayer<Dtype>::KernelExtent(int spatial_axis) const {
  return WindowExtent(kernel_shape_.cpu_data()[spatial_axis],
                      dilation_.cpu_data()[spatial_axis]);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::AppendOutputExtent(int64_t extent) {
  Require(extent > 0 && extent <= INT_MAX, "spatial axis ",
          output_shape_.size(), " of the top would have the extent ", extent);
  output_shape_.push_back(static_cast<int>(extent));
}

template <typename Dtype>
cpu::ConvolutionShape BaseConvolutionLayer<Dtype>::BatchShape() {
  cpu::ConvolutionShape shape;
  shape.batch = num_;
  shape.group = group_;
  shape.in_channels = conv_in_channels_;
  shape.out_channels = conv_out_channels_;
  shape.kernel = Values(kernel_shape_, num_spatial_axes_);
  shape.stride = Values(stride_, num_spatial_axes_);
  shape.pad = Values(pad_, num_spatial_axes_);
  shape.dilation = Values(dilation_, num_spatial_axes_);
  shape.input = output_shape_;
  shape.output = {bottom_shape_->begin() + channel_axis_ + 1,
                  bottom_shape_->end()};
  if (!reverse_dimensions()) std::swap(shape.input, shape.output);
  return shape;
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::forward_cpu_gemm(const Dtype* input,
                                                   const Dtype* weights,
                                                   Dtype* output,
                                                   bool /*skip_im2col*/) {
  cpu::GemmForward(BatchShape(), input, weights, output);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::forward_cpu_bias(Dtype* output,
                                                   const Dtype* bias) {
  cpu::AddBias(1, num_output_, out_spatial_dim_, bias, output);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::backward_cpu_gemm(const Dtype* output,
                                                    const Dtype* weights,
                                                    Dtype* input) {
  cpu::GemmBackward(BatchShape(), output, weights, input);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::weight_cpu_gemm(const Dtype* input,
                                                  const Dtype* output,
                                                  Dtype* weights) {
  cpu::GemmWeightsGradient(BatchShape(), input, output, weights);
}

template <typename Dtype>
void BaseConvolutionLayer<Dtype>::backward_cpu_bias(Dtype* bias,
                                                    const Dtype* input) {
  cpu::AddBiasGradient(1, num_output_, out_spatial_dim_, input, bias);
}

INSTANTIATE_CLASS(BaseConvolutionLayer);

}  // namespace caffe
