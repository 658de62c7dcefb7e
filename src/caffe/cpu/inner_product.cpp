#include "cpu/inner_product.hpp"

#include "caffe/util/math_functions.hpp"
#include "cpu/convolution.hpp"
#include "cpu/gemm.hpp"

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
  InnerProductRowGradients(shape, input, output_diff, 0,
                           shape.transposed ? shape.in : shape.out,
                           weights_diff);
}

template <typename Dtype>
void InnerProductRowGradients(const InnerProductShape& shape,
                              const Dtype* input, const Dtype* output_diff,
                              int first, int rows, Dtype* rows_diff) {
  const Dtype* const by_row = shape.transposed ? input : output_diff;
  const Dtype* const by_column = shape.transposed ? output_diff : input;
  const int all_rows = shape.transposed ? shape.in : shape.out;
  const int columns = shape.transposed ? shape.out : shape.in;
  Gemm(CblasTrans, CblasNoTrans, rows, columns, shape.batch, Dtype(1),
       by_row + first, all_rows, by_column, columns, Dtype(1), rows_diff,
       columns);
}

#define INSTANTIATE_INNER_PRODUCT(Dtype)                                     \
  template void InnerProductForward(const InnerProductShape&, const Dtype*,  \
                                    const Dtype*, const Dtype*, Dtype*);     \
  template void InnerProductBackward(const InnerProductShape&, const Dtype*, \
                                     const Dtype*, Dtype*);                  \
  template void InnerProductWeightsGradient(                                 \
      const InnerProductShape&, const Dtype*, const Dtype*, Dtype*);         \
  template void InnerProductRowGradients(                                    \
      const InnerProductShape&, const Dtype*, const Dtype*, int, int, Dtype*)

INSTANTIATE_INNER_PRODUCT(float);
INSTANTIATE_INNER_PRODUCT(double);

}  // namespace caffe::cpu
