#include "cpu/convolution.hpp"

#include <type_traits>

#include "cpu/convolution_dnnl.hpp"
#include "cpu/convolution_gemm.hpp"
#include "cpu/engine.hpp"
#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// Several sums at a time, which the compiler turns into vectors.
template <typename Dtype>
Dtype Sum(int64_t n, const Dtype* values) {
  constexpr int64_t kLanes = 16;
  Dtype lanes[kLanes] = {};
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += values[i + lane];
    }
  }
  Dtype sum = 0;
  for (int64_t i = whole; i < n; ++i) sum += values[i];
  for (const Dtype lane : lanes) sum += lane;
  return sum;
}

}  // namespace

template <typename Dtype>
void ConvolutionForward(const ConvolutionShape& shape, const Dtype* input,
                        const Dtype* weights, const Dtype* bias,
                        Dtype* output) {
  if constexpr (std::is_same_v<Dtype, float>) {
    if (kernels() == Kernels::kFastest &&
        DnnlConvolutionForward(shape, input, weights, bias, output)) {
      return;
    }
  }
  const int64_t out_size = shape.OutputSize();
  for (int64_t n = 0; n < shape.batch; ++n) {
    GemmForward(shape, input + n * shape.InputSize(), weights,
                output + n * out_size);
  }
  if (bias != nullptr) {
    AddBias(shape.batch, shape.out_channels, out_size / shape.out_channels,
            bias, output);
  }
}

template <typename Dtype>
void ConvolutionBackward(const ConvolutionShape& shape, const Dtype* input,
                         const Dtype* weights, const Dtype* output_diff,
                         const ConvolutionGradients<Dtype>& gradients) {
  if constexpr (std::is_same_v<Dtype, float>) {
    if (kernels() == Kernels::kFastest &&
        DnnlConvolutionBackward(shape, input, weights, output_diff,
                                gradients)) {
      return;
    }
  }
  const int64_t in_size = shape.InputSize();
  const int64_t out_size = shape.OutputSize();
  if (gradients.bias != nullptr) {
    AddBiasGradient(shape.batch, shape.out_channels,
                    out_size / shape.out_channels, output_diff, gradients.bias);
  }
  for (int64_t n = 0; n < shape.batch; ++n) {
    const Dtype* const diff = output_diff + n * out_size;
    if (gradients.weights != nullptr) {
      GemmWeightsGradient(shape, input + n * in_size, diff, gradients.weights);
    }
    if (gradients.input != nullptr) {
      GemmBackward(shape, diff, weights, gradients.input + n * in_size);
    }
  }
}

template <typename Dtype>
void AddBias(int64_t batch, int64_t channels, int64_t inner, const Dtype* bias,
             Dtype* values) {
  if (inner == 1) {
    ParallelFor(batch, kElementwiseGrain / std::max<int64_t>(1, channels),
                [&](int64_t begin, int64_t end) {
                  for (int64_t n = begin; n < end; ++n) {
                    Dtype* const to = values + n * channels;
                    for (int64_t c = 0; c < channels; ++c) to[c] += bias[c];
                  }
                });
    return;
  }
  const int64_t grain = kElementwiseGrain / std::max<int64_t>(1, inner);
  ParallelFor(batch * channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Dtype add = bias[row % channels];
      Dtype* const to = values + row * inner;
      for (int64_t i = 0; i < inner; ++i) to[i] += add;
    }
  });
}

template <typename Dtype>
void AddBiasGradient(int64_t batch, int64_t channels, int64_t inner,
                     const Dtype* diff, Dtype* bias_diff) {
  const int64_t values = std::max<int64_t>(1, batch * inner);
  ParallelFor(channels, kElementwiseGrain / values,
              [&](int64_t begin, int64_t end) {
                std::vector<double> sums(end - begin);
                for (int64_t n = 0; n < batch; ++n) {
                  const Dtype* const image = diff + n * channels * inner;
                  for (int64_t c = begin; c < end; ++c) {
                    sums[c - begin] +=
                        inner == 1 ? image[c] : Sum(inner, image + c * inner);
                  }
                }
                for (int64_t c = begin; c < end; ++c) {
                  bias_diff[c] += static_cast<Dtype>(sums[c - begin]);
                }
              });
}

#define INSTANTIATE_CONVOLUTION(Dtype)                                     \
  template void ConvolutionForward(const ConvolutionShape&, const Dtype*,  \
                                   const Dtype*, const Dtype*, Dtype*);    \
  template void ConvolutionBackward(const ConvolutionShape&, const Dtype*, \
                                    const Dtype*, const Dtype*,            \
                                    const ConvolutionGradients<Dtype>&);   \
  template void AddBias(int64_t, int64_t, int64_t, const Dtype*, Dtype*);  \
  template void AddBiasGradient(int64_t, int64_t, int64_t, const Dtype*, Dtype*)

INSTANTIATE_CONVOLUTION(float);
INSTANTIATE_CONVOLUTION(double);

}  // namespace caffe::cpu
