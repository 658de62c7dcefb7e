#ifndef CAFFE_DECONV_LAYER_HPP_
#define CAFFE_DECONV_LAYER_HPP_

#include <vector>

#include "caffe/layers/base_conv_layer.hpp"

namespace caffe {

// The transpose of a convolution: every bottom value scatters a filter, scaled
// by it, over the window of the top around it. With a stride it upsamples.
// Settings are those of Convolution, with stride and pad meant for the top.
template <typename Dtype>
class DeconvolutionLayer : public BaseConvolutionLayer<Dtype> {
 public:
  using BaseConvolutionLayer<Dtype>::BaseConvolutionLayer;

  const char* type() const override { return "Deconvolution"; }
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
  bool reverse_dimensions() override { return true; }
  void compute_output_shape() override;
};

}  // namespace caffe

#endif  // CAFFE_DECONV_LAYER_HPP_
