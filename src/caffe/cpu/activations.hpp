#ifndef CAFFE_SRC_CPU_ACTIVATIONS_HPP_
#define CAFFE_SRC_CPU_ACTIVATIONS_HPP_

#include <cstdint>

// Functions of every value by itself, and their gradients:
//
//   in_diff = out_diff * derivative
//
// for which some read what came out, and some what went in. Everywhere `out`
// may be `in`, and `in_diff` may be `out_diff`. Results do not depend on the
// number of threads.
namespace caffe::cpu {

// 1 / (1 + e^-x).
template <typename Dtype>
void Sigmoid(int64_t n, const Dtype* in, Dtype* out);
template <typename Dtype>
void SigmoidBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                     Dtype* in_diff);

template <typename Dtype>
void Tanh(int64_t n, const Dtype* in, Dtype* out);
template <typename Dtype>
void TanhBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                  Dtype* in_diff);

// x * sigmoid(beta * x).
template <typename Dtype>
void Swish(int64_t n, Dtype beta, const Dtype* in, Dtype* out);
template <typename Dtype>
void SwishBackward(int64_t n, Dtype beta, const Dtype* in,
                   const Dtype* out_diff, Dtype* in_diff);

// log(1 + e^x).
template <typename Dtype>
void Softplus(int64_t n, const Dtype* in, Dtype* out);
template <typename Dtype>
void SoftplusBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                      Dtype* in_diff);

// x where it is positive, alpha * (e^x - 1) elsewhere.
template <typename Dtype>
void Elu(int64_t n, Dtype alpha, const Dtype* in, Dtype* out);
// Positive are the values whose bit is set in `mask` (cpu/mask.hpp). With an
// alpha of 1 the derivative does not jump at zero: `mask` may be nullptr then,
// and `out` tells.
template <typename Dtype>
void EluBackward(int64_t n, Dtype alpha, const Dtype* out,
                 const unsigned int* mask, const Dtype* out_diff,
                 Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ACTIVATIONS_HPP_
