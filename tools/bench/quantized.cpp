#include "bench/quantized.hpp"

#include <algorithm>
#include <cmath>

namespace caffe {

namespace {

constexpr float kLargest = 32767;

int32_t CodeOf(float value, float inverse) {
  const float scaled = std::clamp(value * inverse, -kLargest, kLargest);
  return static_cast<int32_t>(std::lrintf(scaled));
}

// Small codes of both signs to small numbers.
uint32_t Folded(int32_t code) {
  return static_cast<uint32_t>(code) << 1 ^ static_cast<uint32_t>(code >> 31);
}
int32_t Unfolded(uint32_t folded) {
  return static_cast<int32_t>(folded >> 1) ^ -static_cast<int32_t>(folded & 1);
}

}  // namespace

std::vector<int32_t> Quantize(std::span<const float> values, double bound) {
  const auto inverse = static_cast<float>(0.5 / bound);
  std::vector<int32_t> codes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    codes[i] = CodeOf(values[i], inverse);
  }
  return codes;
}

int BytePlanes::Split(std::span<const float> values, double bound) {
  const auto inverse = static_cast<float>(0.5 / bound);
  const size_t n = values.size();
  bytes_.resize(2 * n);
  uint32_t all = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t folded = Folded(CodeOf(values[i], inverse));
    all |= folded;
    bytes_[i] = static_cast<uint8_t>(folded);
    bytes_[n + i] = static_cast<uint8_t>(folded >> 8);
  }
  return all < 256 ? 1 : 2;
}

void BytePlanes::Join(int planes, double bound, std::span<float> values) const {
  const auto step = static_cast<float>(2 * bound);
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) {
    const uint32_t high = planes > 1 ? bytes_[n + i] : 0;
    values[i] = static_cast<float>(Unfolded(high << 8 | bytes_[i])) * step;
  }
}

}  // namespace caffe
