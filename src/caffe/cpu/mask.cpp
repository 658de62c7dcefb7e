#include "cpu/mask.hpp"

namespace caffe::cpu {

namespace {

// Sets the bits of the values for which `holds`.
template <typename Dtype, typename Holds>
void MaskWhere(int64_t n, const Dtype* in, const Holds& holds,
               unsigned int* mask) {
  ForMaskWords(n, [=](int64_t word, int64_t first, int64_t values) {
    mask[word] = WordOf(in + first, values, holds);
  });
}

}  // namespace

template <typename Dtype>
void MaskRange(int64_t n, Dtype lowest, Dtype highest, const Dtype* in,
               unsigned int* mask) {
  MaskWhere(
      n, in, [=](Dtype x) { return (x >= lowest) & (x <= highest); }, mask);
}

template <typename Dtype>
void MaskPositive(int64_t n, const Dtype* in, unsigned int* mask) {
  MaskWhere(
      n, in, [](Dtype x) { return x > 0; }, mask);
}

template <typename Dtype>
void ApplyMask(int64_t n, const unsigned int* mask, Dtype scale,
               const Dtype* in, Dtype* out) {
  ForMaskWords(n, [=](int64_t word, int64_t first, int64_t values) {
    const unsigned int bits = mask[word];
#pragma omp simd
    for (int64_t i = 0; i < values; ++i) {
      const Dtype scaled = scale * in[first + i];
      out[first + i] = (bits & kBits[i]) != 0 ? scaled : 0;
    }
  });
}

#define INSTANTIATE_MASK(Dtype)                                                \
  template void MaskRange(int64_t, Dtype, Dtype, const Dtype*, unsigned int*); \
  template void MaskPositive(int64_t, const Dtype*, unsigned int*);            \
  template void ApplyMask(int64_t, const unsigned int*, Dtype, const Dtype*,   \
                          Dtype*)

INSTANTIATE_MASK(float);
INSTANTIATE_MASK(double);

}  // namespace caffe::cpu
