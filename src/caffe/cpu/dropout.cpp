#include "cpu/dropout.hpp"

#include <array>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// The bits by themselves: comparing with a constant vectorises where shifting
// by a variable does not.
constexpr std::array<unsigned int, kMaskBits> kBits = [] {
  std::array<unsigned int, kMaskBits> bits{};
  for (int64_t i = 0; i < kMaskBits; ++i) bits[i] = 1u << i;
  return bits;
}();

}  // namespace

template <typename Dtype>
void ApplyMask(int64_t n, const unsigned int* mask, Dtype scale,
               const Dtype* in, Dtype* out) {
  const auto apply = [=](int64_t first, int64_t values) {
    const unsigned int word = mask[first / kMaskBits];
#pragma omp simd
    for (int64_t i = 0; i < values; ++i) {
      const Dtype scaled = scale * in[first + i];
      out[first + i] = (word & kBits[i]) != 0 ? scaled : 0;
    }
  };
  ParallelFor(MaskWords(n), kElementwiseGrain / kMaskBits,
              [&](int64_t begin, int64_t end) {
                const int64_t whole = std::min(end, n / kMaskBits);
                for (int64_t word = begin; word < whole; ++word) {
                  apply(word * kMaskBits, kMaskBits);
                }
                if (whole < end) apply(whole * kMaskBits, n % kMaskBits);
              });
}

#define INSTANTIATE_DROPOUT(Dtype)                                           \
  template void ApplyMask(int64_t, const unsigned int*, Dtype, const Dtype*, \
                          Dtype*)

INSTANTIATE_DROPOUT(float);
INSTANTIATE_DROPOUT(double);

}  // namespace caffe::cpu
