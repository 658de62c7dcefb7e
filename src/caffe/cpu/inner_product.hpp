#ifndef CAFFE_SRC_CPU_INNER_PRODUCT_HPP_
#define CAFFE_SRC_CPU_INNER_PRODUCT_HPP_

// Products of all rows of a batch with a weight matrix.
namespace caffe::cpu {

// Inputs are (batch, in), outputs (batch, out), and the weights (out, in), or
// (in, out) when they are transposed.
struct InnerProductShape {
  int batch = 0;
  int in = 0;
  int out = 0;
  bool transposed = false;
};

// output = input * weights' + bias; bias may be nullptr.
template <typename Dtype>
void InnerProductForward(const InnerProductShape& shape, const Dtype* input,
                         const Dtype* weights, const Dtype* bias,
                         Dtype* output);

// Overwrites input_diff.
template <typename Dtype>
void InnerProductBackward(const InnerProductShape& shape,
                          const Dtype* output_diff, const Dtype* weights,
                          Dtype* input_diff);

// Adds to weights_diff.
template <typename Dtype>
void InnerProductWeightsGradient(const InnerProductShape& shape,
                                 const Dtype* input, const Dtype* output_diff,
                                 Dtype* weights_diff);

// The same for `rows` rows of the weights, from `first` on: adds to rows_diff.
// Floats have the same bits, if slices are large and start at multiples of 16.
template <typename Dtype>
void InnerProductRowGradients(const InnerProductShape& shape,
                              const Dtype* input, const Dtype* output_diff,
                              int first, int rows, Dtype* rows_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_INNER_PRODUCT_HPP_
