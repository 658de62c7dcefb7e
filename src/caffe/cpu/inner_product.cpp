#include "cpu/inner_product.hpp"

#include "caffe/util/math_functions.hpp"
#include "cpu/convolution.hpp"

namespace caffe::cpu {

template <typename Dtype>
void InnerProductForward(const InnerProductShape& shape, const Dtype* input,
                         const Dtype* weights, const Dtype* bias,
                         Dtype* output) {
  caffe_cpu_gemm<Dtype>(
      CblasNoTrans, shape.transposed ? CblasNoTrans : CblasTrans, shape.batch,
      shape.out, shape.in, 1, input, weights, 0, output);
  if (bias != nullptr) AddBias(shape.batch, shape.out, 1, bias, output);
}

template <typename Dtype>
void InnerProductBackward(const InnerProductShape& shape,
                          const Dtype* output_diff, const Dtype* weights,
                          Dtype* input_diff) {
  caffe_cpu_gemm<Dtype>(
      CblasNoTrans, shape.transposed ? CblasTrans : CblasNoTrans, shape.batch,
      shape.in, shape.out, 1, output_diff, weights, 0, input_diff);
}

template <typename Dtype>
void InnerProductWeightsGradient(const InnerProductShape& shape,
                                 const Dtype* input, const Dtype* output_diff,
                                 Dtype* weights_diff) {
  if (shape.transposed) {
    caffe_cpu_gemm<Dtype>(CblasTrans, CblasNoTrans, shape.in, shape.out,
                          shape.batch, 1, input, output_diff, 1, weights_diff);
  } else {
    caffe_cpu_gemm<Dtype>(CblasTrans, CblasNoTrans, shape.out, shape.in,
                          shape.batch, 1, output_diff, input, 1, weights_diff);
  }
}

#define INSTANTIATE_INNER_PRODUCT(Dtype)                                     \
  template void InnerProductForward(const InnerProductShape&, const Dtype*,  \
                                    const Dtype*, const Dtype*, Dtype*);     \
  template void InnerProductBackward(const InnerProductShape&, const Dtype*, \
                                     const Dtype*, Dtype*);                  \
  template void InnerProductWeightsGradient(                                 \
      const InnerProductShape&, const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_INNER_PRODUCT(float);
INSTANTIATE_INNER_PRODUCT(double);

}  // namespace caffe::cpu
