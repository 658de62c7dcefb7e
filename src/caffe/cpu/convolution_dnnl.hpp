#ifndef CAFFE_SRC_CPU_CONVOLUTION_DNNL_HPP_
#define CAFFE_SRC_CPU_CONVOLUTION_DNNL_HPP_

#include "cpu/convolution.hpp"

// Convolution by oneDNN's kernels, which are made for each shape at run time.
// They are kept by shape for the calling thread.
namespace caffe::cpu {

// As ConvolutionForward and ConvolutionBackward. False, and nothing done, when
// oneDNN has no fast kernel for the shape.
bool DnnlConvolutionForward(const ConvolutionShape& shape, const float* input,
                            const float* weights, const float* bias,
                            float* output);
bool DnnlConvolutionBackward(const ConvolutionShape& shape, const float* input,
                             const float* weights, const float* output_diff,
                             const ConvolutionGradients<float>& gradients);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_CONVOLUTION_DNNL_HPP_
