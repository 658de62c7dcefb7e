#ifndef CAFFE_SRC_COMPRESS_SZ_PLAIN_QUANTIZE_HPP_
#define CAFFE_SRC_COMPRESS_SZ_PLAIN_QUANTIZE_HPP_

#include <cmath>

#include "compress/sz/dither.hpp"
#include "compress/sz/kernels.hpp"

// Quantisation one value at a time, for any type of value: what the vector
// kernels do for float, and the only way there is for double.
namespace caffe::codec::sz {

template <typename T>
size_t PlainQuantize(const Quantizer& quantizer, const T* values, size_t n,
                     uint64_t position, int8_t* tokens, uint16_t* low,
                     uint32_t* raw) {
  const Steps<T> steps = StepsOf<T>(quantizer.bound);
  const bool dithered = quantizer.rounding == Rounding::kDither;
  size_t raws = 0;
  for (size_t i = 0; i < n; ++i) {
    const T x = values[i];
    tokens[i] = 0;
    if (quantizer.low_bits > 0) low[i] = 0;
    if (x == T(0)) continue;
    const T dither = dithered ? Dither(quantizer.seed, position + i) : T(0);
    const T scaled = x * steps.inverse + dither;
    // Also false for values that are not numbers.
    const bool in_range = std::abs(scaled) < T(1 << 24);
    const int32_t code =
        in_range ? static_cast<int32_t>(std::nearbyint(scaled)) : 0;
    const T error = std::abs(x - (static_cast<T>(code) - dither) * steps.step);
    const bool within = dithered ? error < steps.bound : error <= steps.bound;
    const int32_t size =
        dithered ? (code < 0 ? ~code : code) : std::abs(code) - 1;
    const int32_t kept = (size >> quantizer.low_bits) + 1;
    if (!in_range || !within || kept > kMaxToken) {
      raw[raws++] = static_cast<uint32_t>(i);
      continue;
    }
    tokens[i] = static_cast<int8_t>(code < 0 ? -kept : kept);
    if (quantizer.low_bits > 0) {
      low[i] = static_cast<uint16_t>(size & ((1 << quantizer.low_bits) - 1));
    }
  }
  return raws;
}

template <typename T>
void PlainDequantize(const Quantizer& quantizer, const int8_t* tokens,
                     const uint16_t* low, size_t n, uint64_t position,
                     T* values) {
  const Steps<T> steps = StepsOf<T>(quantizer.bound);
  const bool dithered = quantizer.rounding == Rounding::kDither;
  for (size_t i = 0; i < n; ++i) {
    const int8_t token = tokens[i];
    if (token == 0) {
      values[i] = T(0);
      continue;
    }
    const int size = (std::abs(token) - 1) << quantizer.low_bits |
                     (quantizer.low_bits > 0 ? low[i] : 0);
    if (dithered) {
      const int code = token < 0 ? ~size : size;
      values[i] =
          (static_cast<T>(code) - Dither(quantizer.seed, position + i)) *
          steps.step;
    } else {
      values[i] = static_cast<T>(token < 0 ? -size - 1 : size + 1) * steps.step;
    }
  }
}

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_PLAIN_QUANTIZE_HPP_
