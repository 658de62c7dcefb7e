#ifndef CAFFE_SRC_CPU_MASK_HPP_
#define CAFFE_SRC_CPU_MASK_HPP_

#include <algorithm>
#include <array>
#include <cstdint>

#include "cpu/parallel.hpp"

// Masks of one bit a value: value i has bit i % 32 of word i / 32.
namespace caffe::cpu {

constexpr int64_t kMaskBits = 32;

// The bits by themselves: comparing with a constant vectorises where shifting
// by a variable does not.
inline constexpr std::array<unsigned int, kMaskBits> kBits = [] {
  std::array<unsigned int, kMaskBits> bits{};
  for (int64_t i = 0; i < kMaskBits; ++i) bits[i] = 1u << i;
  return bits;
}();

// How many words the mask of n values has.
constexpr int64_t MaskWords(int64_t n) {
  return (n + kMaskBits - 1) / kMaskBits;
}

// Calls body(word, first, values) for every word of a mask of n values, on all
// threads; its bits are those of so many values, from the first on.
template <typename Body>
void ForMaskWords(int64_t n, const Body& body) {
  ParallelFor(MaskWords(n), kElementwiseGrain / kMaskBits,
              [&](int64_t begin, int64_t end) {
                const int64_t whole = std::min(end, n / kMaskBits);
                for (int64_t word = begin; word < whole; ++word) {
                  body(word, word * kMaskBits, kMaskBits);
                }
                if (whole < end) body(whole, whole * kMaskBits, n % kMaskBits);
              });
}

// The word of up to 32 values, with the bits set of those for which `holds`.
template <typename Dtype, typename Holds>
unsigned int WordOf(const Dtype* in, int64_t values, const Holds& holds) {
  unsigned int word = 0;
#pragma omp simd reduction(| : word)
  for (int64_t i = 0; i < values; ++i) {
    // Not a condition, which would become a branch, and be hard to predict.
    word |= kBits[i] & -static_cast<unsigned int>(holds(in[i]));
  }
  return word;
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

// Sets the bits of the values in [lowest, highest].
template <typename Dtype>
void MaskRange(int64_t n, Dtype lowest, Dtype highest, const Dtype* in,
               unsigned int* mask);

// Sets the bits of the values above zero.
template <typename Dtype>
void MaskPositive(int64_t n, const Dtype* in, unsigned int* mask);

// out = scale * in where the bit is set, 0 elsewhere. `out` may be `in`.
template <typename Dtype>
void ApplyMask(int64_t n, const unsigned int* mask, Dtype scale,
               const Dtype* in, Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_MASK_HPP_
