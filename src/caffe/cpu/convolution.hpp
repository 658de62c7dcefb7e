#ifndef CAFFE_SRC_CPU_CONVOLUTION_HPP_
#define CAFFE_SRC_CPU_CONVOLUTION_HPP_

#include <cstdint>
#include <vector>

// Convolution of batches of images with any number of spatial axes. Images are
// (batch, channels, spatial axes), weights (out_channels, in_channels / group,
// spatial axes). A deconvolution is the same with input and output changed
// about: its forward is ConvolutionBackward's input gradient.
namespace caffe::cpu {

// `input` to `output` have one entry a spatial axis. The output must be the
// extents that input, kernel and so on lead to.
struct ConvolutionShape {
  int batch = 0;
  int group = 1;
  int in_channels = 0;
  int out_channels = 0;
  std::vector<int> input;
  std::vector<int> kernel;
  std::vector<int> stride;
  std::vector<int> pad;
  std::vector<int> dilation;
  std::vector<int> output;

  // Values of one image.
  int64_t InputSize() const { return in_channels * Product(input); }
  int64_t OutputSize() const { return out_channels * Product(output); }

  static int64_t Product(const std::vector<int>& extents) {
    int64_t product = 1;
    for (const int extent : extents) product *= extent;
    return product;
  }

  // NOLINTNEXTLINE(modernize-use-nullptr): it is not a 0.
  auto operator<=>(const ConvolutionShape&) const = default;
};

// Bias has one value an output channel, or is nullptr.
template <typename Dtype>
void ConvolutionForward(const ConvolutionShape& shape, const Dtype* input,
                        const Dtype* weights, const Dtype* bias, Dtype* output);

// Where the gradients go that are wanted; the others are nullptr. That of the
// input overwrites what was there, those of parameters are added to it.
template <typename Dtype>
struct ConvolutionGradients {
  Dtype* input = nullptr;
  Dtype* weights = nullptr;
  Dtype* bias = nullptr;
};

// `input` is read for the gradient of the weights only, and `weights` for that
// of the input only; otherwise they may be nullptr.
template <typename Dtype>
void ConvolutionBackward(const ConvolutionShape& shape, const Dtype* input,
                         const Dtype* weights, const Dtype* output_diff,
                         const ConvolutionGradients<Dtype>& gradients);

// Adds bias[c] to all values of channel c, `inner` in each image.
template <typename Dtype>
void AddBias(int64_t batch, int64_t channels, int64_t inner, const Dtype* bias,
             Dtype* values);

// Adds the sum of every channel to bias_diff[c]. The result does not depend on
// the number of threads.
template <typename Dtype>
void AddBiasGradient(int64_t batch, int64_t channels, int64_t inner,
                     const Dtype* diff, Dtype* bias_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_CONVOLUTION_HPP_
