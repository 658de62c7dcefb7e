#ifndef CAFFE_SRC_CPU_DROPOUT_HPP_
#define CAFFE_SRC_CPU_DROPOUT_HPP_

#include <algorithm>
#include <cstdint>

// Masks of one bit a value: value i has bit i % 32 of word i / 32.
namespace caffe::cpu {

constexpr int64_t kMaskBits = 32;

// How many words the mask of n values has.
constexpr int64_t MaskWords(int64_t n) {
  return (n + kMaskBits - 1) / kMaskBits;
}

// Sets the bits of the n values to what `draw` gives, asked in their order.
template <typename Draw>
void DrawMask(int64_t n, const Draw& draw, unsigned int* mask) {
  for (int64_t first = 0; first < n; first += kMaskBits) {
    const int64_t bits = std::min(kMaskBits, n - first);
    unsigned int word = 0;
    for (int64_t bit = 0; bit < bits; ++bit) {
      word |= static_cast<unsigned int>(draw()) << bit;
    }
    mask[first / kMaskBits] = word;
  }
}

// out = scale * in where the bit is set, 0 elsewhere. `out` may be `in`.
template <typename Dtype>
void ApplyMask(int64_t n, const unsigned int* mask, Dtype scale,
               const Dtype* in, Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_DROPOUT_HPP_
