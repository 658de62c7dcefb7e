#ifndef CAFFE_CONV_LAYER_HPP_
#define CAFFE_CONV_LAYER_HPP_

#include <vector>

#include "caffe/layers/base_conv_layer.hpp"

namespace caffe {

// Slides learned filters over its bottoms: every top value is the product of
// a filter with the window of the bottom around it, plus a bias. With groups,
// each share of the filters sees only its share of the channels.
// convolution_param: num_output, kernel_size, stride, pad, dilation, group,
// bias_term, axis.
template <typename Dtype>
class ConvolutionLayer : public BaseConvolutionLayer<Dtype> {
 public:
  using BaseConvolutionLayer<Dtype>::BaseConvolutionLayer;

  const char* type() const override { return "Convolution"; }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(this->param_propagate_down(0)
                                        ? BackwardRead::kValues
                                        : BackwardRead::kNothing);
  }
  bool works_per_image() const override { return this->channel_axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
  bool reverse_dimensions() override { return false; }
  void compute_output_shape() override;
};

}  // namespace caffe

#endif  // CAFFE_CONV_LAYER_HPP_
