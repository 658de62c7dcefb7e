#ifndef CAFFE_IM2COL_LAYER_HPP_
#define CAFFE_IM2COL_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Lays out the windows that a convolution with the same convolution_param looks
// at: the channels of the top are the values of one window, channel by channel,
// and its other axes the places of windows. From (N, C, H, W) to (N, C * kernel
// values, rows of windows, columns of windows), for any number of spatial axes
// from convolution_param.axis + 1 on.
//
// Backward reads no values.
template <typename Dtype>
class Im2colLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Im2col"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }
  bool works_per_image() const override { return channel_axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // One entry a spatial axis.
  vector<int> kernel_shape_;
  vector<int> stride_;
  vector<int> pad_;
  vector<int> dilation_;

  int num_spatial_axes_ = 0;
  // Values of one image.
  int bottom_dim_ = 0;
  int top_dim_ = 0;
  int channel_axis_ = 0;
  int num_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_IM2COL_LAYER_HPP_
