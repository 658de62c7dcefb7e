#include "cpu/activations.hpp"

#include <algorithm>

#include "cpu/elementwise.hpp"
#include "cpu/mask.hpp"

namespace caffe::cpu {

namespace {

// out = function(in).
template <typename Dtype>
void ApplyToAll(Elementary function, int64_t n, const Dtype* in, Dtype* out) {
  ForEachElementary<Dtype>(
      n, function, [=](int64_t i) { return in[i]; },
      [=](int64_t i, Dtype value) { out[i] = value; });
}

}  // namespace

template <typename Dtype>
void Sigmoid(int64_t n, const Dtype* in, Dtype* out) {
  ApplyToAll(Elementary::kSigmoid, n, in, out);
}

template <typename Dtype>
void SigmoidBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                     Dtype* in_diff) {
  ForEachValue(
      n, [=](int64_t i) { in_diff[i] = out_diff[i] * out[i] * (1 - out[i]); });
}

template <typename Dtype>
void Tanh(int64_t n, const Dtype* in, Dtype* out) {
  ApplyToAll(Elementary::kTanh, n, in, out);
}

template <typename Dtype>
void TanhBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                  Dtype* in_diff) {
  ForEachValue(
      n, [=](int64_t i) { in_diff[i] = out_diff[i] * (1 - out[i] * out[i]); });
}

template <typename Dtype>
void Swish(int64_t n, Dtype beta, const Dtype* in, Dtype* out) {
  ForEachElementary<Dtype>(
      n, Elementary::kSigmoid, [=](int64_t i) { return beta * in[i]; },
      [=](int64_t i, Dtype sigmoid) { out[i] = in[i] * sigmoid; });
}

template <typename Dtype>
void SwishBackward(int64_t n, Dtype beta, const Dtype* in,
                   const Dtype* out_diff, Dtype* in_diff) {
  ForEachElementary<Dtype>(
      n, Elementary::kSigmoid, [=](int64_t i) { return beta * in[i]; },
      [=](int64_t i, Dtype sigmoid) {
        in_diff[i] = out_diff[i] * sigmoid * (1 + beta * in[i] * (1 - sigmoid));
      });
}

template <typename Dtype>
void Softplus(int64_t n, const Dtype* in, Dtype* out) {
  ApplyToAll(Elementary::kSoftplus, n, in, out);
}

template <typename Dtype>
void SoftplusBackward(int64_t n, const Dtype* out, const Dtype* out_diff,
                      Dtype* in_diff) {
  // The derivative is e^x / (1 + e^x), and e^out is 1 + e^x.
  ForEachElementary<Dtype>(
      n, Elementary::kExpm1, [=](int64_t i) { return -out[i]; },
      [=](int64_t i, Dtype value) { in_diff[i] = out_diff[i] * -value; });
}

template <typename Dtype>
void Elu(int64_t n, Dtype alpha, const Dtype* in, Dtype* out) {
  ForEachElementary<Dtype>(
      n, Elementary::kExpm1,
      [=](int64_t i) { return std::min(in[i], Dtype(0)); },
      [=](int64_t i, Dtype value) {
        const Dtype x = in[i];
        const Dtype below = alpha * value;
        out[i] = x > 0 ? x : below;
      });
}

template <typename Dtype>
void EluBackward(int64_t n, Dtype alpha, const Dtype* out,
                 const unsigned int* mask, const Dtype* out_diff,
                 Dtype* in_diff) {
  if (mask == nullptr) {
    ForEachValue(n, [=](int64_t i) {
      in_diff[i] = out[i] > 0 ? out_diff[i] : out_diff[i] * (out[i] + alpha);
    });
    return;
  }
  ForMaskWords(n, [=](int64_t word, int64_t first, int64_t values) {
    const unsigned int bits = mask[word];
#pragma omp simd
    for (int64_t i = 0; i < values; ++i) {
      const Dtype diff = out_diff[first + i];
      const Dtype slope = out[first + i] + alpha;
      in_diff[first + i] = (bits & kBits[i]) != 0 ? diff : diff * slope;
    }
  });
}

#define INSTANTIATE_ACTIVATIONS(Dtype)                                         \
  template void Sigmoid(int64_t, const Dtype*, Dtype*);                        \
  template void SigmoidBackward(int64_t, const Dtype*, const Dtype*, Dtype*);  \
  template void Tanh(int64_t, const Dtype*, Dtype*);                           \
  template void TanhBackward(int64_t, const Dtype*, const Dtype*, Dtype*);     \
  template void Swish(int64_t, Dtype, const Dtype*, Dtype*);                   \
  template void SwishBackward(int64_t, Dtype, const Dtype*, const Dtype*,      \
                              Dtype*);                                         \
  template void Softplus(int64_t, const Dtype*, Dtype*);                       \
  template void SoftplusBackward(int64_t, const Dtype*, const Dtype*, Dtype*); \
  template void Elu(int64_t, Dtype, const Dtype*, Dtype*);                     \
  template void EluBackward(int64_t, Dtype, const Dtype*, const unsigned int*, \
                            const Dtype*, Dtype*)

INSTANTIATE_ACTIVATIONS(float);
INSTANTIATE_ACTIVATIONS(double);

}  // namespace caffe::cpu
