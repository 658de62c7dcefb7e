#ifndef CAFFE_SRC_CPU_CONVOLUTION_GEMM_HPP_
#define CAFFE_SRC_CPU_CONVOLUTION_GEMM_HPP_

#include "cpu/convolution.hpp"

// Convolution of one image by im2col and GEMM, for any shape and type: the
// reference, and what layers derived from Convolution call.
namespace caffe::cpu {

template <typename Dtype>
void GemmForward(const ConvolutionShape& shape, const Dtype* image,
                 const Dtype* weights, Dtype* output);

// The gradient of the image, which is overwritten.
template <typename Dtype>
void GemmBackward(const ConvolutionShape& shape, const Dtype* output_diff,
                  const Dtype* weights, Dtype* image_diff);

// Adds the gradient of the weights to weights_diff.
template <typename Dtype>
void GemmWeightsGradient(const ConvolutionShape& shape, const Dtype* image,
                         const Dtype* output_diff, Dtype* weights_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_CONVOLUTION_GEMM_HPP_
