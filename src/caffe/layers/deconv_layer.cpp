#include "caffe/layers/deconv_layer.hpp"

#include "cpu/convolution.hpp"
#include "cpu/engine.hpp"

namespace caffe {

template <typename Dtype>
void DeconvolutionLayer<Dtype>::compute_output_shape() {
  this->output_shape_.clear();
  for (int i = 0; i < this->num_spatial_axes_; ++i) {
    const int64_t steps = int64_t{this->input_shape(i + 1)} - 1;
    const int64_t padding = 2 * int64_t{this->pad_.cpu_data()[i]};
    this->AppendOutputExtent(this->stride_.cpu_data()[i] * steps +
                             this->KernelExtent(i) - padding);
  }
}

template <typename Dtype>
void DeconvolutionLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                            const vector<Blob<Dtype>*>& top) {
  const cpu::ScopedKernels choice(
      cpu::KernelsFor(this->layer_param_.convolution_param()));
  const cpu::ConvolutionShape shape = this->BatchShape();
  for (size_t i = 0; i < bottom.size(); ++i) {
    cpu::ConvolutionGradients<Dtype> gradients;
    gradients.input = top[i]->mutable_cpu_data();
    cpu::ConvolutionBackward<Dtype>(shape, nullptr, this->blobs_[0]->cpu_data(),
                                    bottom[i]->cpu_data(), gradients);
    if (this->bias_term_) {
      cpu::AddBias(this->num_, this->num_output_, this->out_spatial_dim_,
                   this->blobs_[1]->cpu_data(), top[i]->mutable_cpu_data());
    }
  }
}

template <typename Dtype>
void DeconvolutionLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  const cpu::ScopedKernels choice(
      cpu::KernelsFor(this->layer_param_.convolution_param()));
  const cpu::ConvolutionShape shape = this->BatchShape();
  for (size_t i = 0; i < top.size(); ++i) {
    const Dtype* const top_diff = top[i]->cpu_diff();
    if (this->bias_term_ && this->param_propagate_down_[1]) {
      cpu::AddBiasGradient(this->num_, this->num_output_,
                           this->out_spatial_dim_, top_diff,
                           this->blobs_[1]->mutable_cpu_diff());
    }
    if (this->param_propagate_down_[0]) {
      cpu::ConvolutionGradients<Dtype> gradients;
      gradients.weights = this->blobs_[0]->mutable_cpu_diff();
      cpu::ConvolutionBackward<Dtype>(shape, top_diff, nullptr,
                                      bottom[i]->cpu_data(), gradients);
    }
    if (propagate_down[i]) {
      cpu::ConvolutionForward<Dtype>(shape, top_diff,
                                     this->blobs_[0]->cpu_data(), nullptr,
                                     bottom[i]->mutable_cpu_diff());
    }
  }
}

INSTANTIATE_CLASS(DeconvolutionLayer);
REGISTER_LAYER_CLASS(Deconvolution);

}  // namespace caffe
