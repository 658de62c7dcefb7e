#include "caffe/layers/conv_layer.hpp"

#include "cpu/convolution.hpp"
#include "cpu/engine.hpp"
#include "layers/window_settings.hpp"

namespace caffe {

template <typename Dtype>
void ConvolutionLayer<Dtype>::compute_output_shape() {
  this->output_shape_.clear();
  for (int i = 0; i < this->num_spatial_axes_; ++i) {
    this->AppendOutputExtent(
        CountWindows(i, this->input_shape(i + 1), this->KernelExtent(i),
                     this->stride_.cpu_data()[i], this->pad_.cpu_data()[i]));
  }
}

template <typename Dtype>
void ConvolutionLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                          const vector<Blob<Dtype>*>& top) {
  const cpu::ScopedKernels choice(
      cpu::KernelsFor(this->layer_param_.convolution_param()));
  const cpu::ConvolutionShape shape = this->BatchShape();
  const Dtype* const weights = this->blobs_[0]->cpu_data();
  const Dtype* const bias =
      this->bias_term_ ? this->blobs_[1]->cpu_data() : nullptr;
  for (size_t i = 0; i < bottom.size(); ++i) {
    cpu::ConvolutionForward(shape, bottom[i]->cpu_data(), weights, bias,
                            top[i]->mutable_cpu_data());
  }
}

template <typename Dtype>
void ConvolutionLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                           const vector<bool>& propagate_down,
                                           const vector<Blob<Dtype>*>& bottom) {
  const cpu::ScopedKernels choice(
      cpu::KernelsFor(this->layer_param_.convolution_param()));
  const cpu::ConvolutionShape shape = this->BatchShape();
  const Dtype* const weights = this->blobs_[0]->cpu_data();
  for (size_t i = 0; i < top.size(); ++i) {
    const Dtype* input = nullptr;
    cpu::ConvolutionGradients<Dtype> gradients;
    if (propagate_down[i]) gradients.input = bottom[i]->mutable_cpu_diff();
    if (this->param_propagate_down_[0]) {
      input = bottom[i]->cpu_data();
      gradients.weights = this->blobs_[0]->mutable_cpu_diff();
    }
    if (this->bias_term_ && this->param_propagate_down_[1]) {
      gradients.bias = this->blobs_[1]->mutable_cpu_diff();
    }
    cpu::ConvolutionBackward(shape, input, weights, top[i]->cpu_diff(),
                             gradients);
  }
}

INSTANTIATE_CLASS(ConvolutionLayer);
REGISTER_LAYER_CLASS(Convolution);

}  // namespace caffe
