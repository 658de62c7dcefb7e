#ifndef CAFFE_BASE_CONVOLUTION_LAYER_HPP_
#define CAFFE_BASE_CONVOLUTION_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct ConvolutionShape;
}

// What Convolution and Deconvolution share: settings, shapes, parameters and
// the arithmetic for one image. Axes before convolution_param.axis are batch,
// the axis itself channels, those behind it spatial, any number of them.
//
// Inside, a deconvolution is the convolution that leads from its tops to its
// bottoms (reverse_dimensions): names with conv_ and the arithmetic below see
// it that way, and its weights are (bottom channels, top channels / group,
// kernel).
template <typename Dtype>
class BaseConvolutionLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  int MinBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  bool EqualNumBottomTopBlobs() const override { return true; }

 protected:
  // One image at a time by im2col and GEMM. `input` and `output` are those of
  // the convolution. skip_im2col says that the windows of `input` were made by
  // the call before; they are made again, as working memory is shared.
  void forward_cpu_gemm(const Dtype* input, const Dtype* weights, Dtype* output,
                        bool skip_im2col = false);
  void forward_cpu_bias(Dtype* output, const Dtype* bias);
  // From the gradient of the convolution's output to that of its input.
  void backward_cpu_gemm(const Dtype* output, const Dtype* weights,
                         Dtype* input);
  // Adds to the gradients of weights and bias.
  void weight_cpu_gemm(const Dtype* input, const Dtype* output, Dtype* weights);
  void backward_cpu_bias(Dtype* bias, const Dtype* input);

  // Extent of the bottoms, counted from the channel axis.
  int input_shape(int i) const { return (*bottom_shape_)[channel_axis_ + i]; }
  virtual bool reverse_dimensions() = 0;
  // Sets output_shape_, the spatial extents of the tops.
  virtual void compute_output_shape() = 0;

  // The convolution of the whole batch.
  cpu::ConvolutionShape BatchShape();

  // What the windows of a kernel cover along a spatial axis.
  int64_t KernelExtent(int spatial_axis) const;
  // Appends to output_shape_; throws Error unless the extent is a positive int.
  void AppendOutputExtent(int64_t extent);

  // One entry a spatial axis.
  Blob<int> kernel_shape_;
  Blob<int> stride_;
  Blob<int> pad_;
  Blob<int> dilation_;
  // Channels and spatial extents of the convolution's input.
  Blob<int> conv_input_shape_;
  // Of the matrix that im2col makes.
  vector<int> col_buffer_shape_;
  vector<int> output_shape_;
  const vector<int>* bottom_shape_ = nullptr;

  int num_spatial_axes_ = 0;
  // Values of one image.
  int bottom_dim_ = 0;
  int top_dim_ = 0;

  int channel_axis_ = 0;
  int num_ = 0;
  int channels_ = 0;
  int group_ = 0;
  int out_spatial_dim_ = 0;
  // Weights of one group.
  int weight_offset_ = 0;
  int num_output_ = 0;
  bool bias_term_ = false;
  bool is_1x1_ = false;
  // Accepted for its sake; im2col is the same for any number of axes.
  bool force_nd_im2col_ = false;
  int conv_out_channels_ = 0;
  int conv_in_channels_ = 0;
  int conv_out_spatial_dim_ = 0;
  // Rows of the im2col matrix, values of it and of the convolution's output,
  // each for one group.
  int kernel_dim_ = 0;
  int64_t col_offset_ = 0;
  int output_offset_ = 0;

 private:
  void ReadSettings(const ConvolutionParameter& param);
  void MakeParameters(const ConvolutionParameter& param);
  cpu::ConvolutionShape ImageShape();
};

}  // namespace caffe

#endif  // CAFFE_BASE_CONVOLUTION_LAYER_HPP_
