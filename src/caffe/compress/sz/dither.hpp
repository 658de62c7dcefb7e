#ifndef CAFFE_SRC_COMPRESS_SZ_DITHER_HPP_
#define CAFFE_SRC_COMPRESS_SZ_DITHER_HPP_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace caffe::codec::sz {

// The dither is a hash of (seed, position): the same on every machine, and
// known to the decoder without being sent. One hash serves two values, its
// lower half that at position i and its upper half that at i + kDitherSpan, so
// that vectors of any width find theirs in the same lanes.
constexpr uint32_t kDitherStep = 0x9E3779B1u;
constexpr uint32_t kDitherMix1 = 0x85EBCA77u;
constexpr uint32_t kDitherMix2 = 0xC2B2AE3Du;
constexpr int kDitherSpan = 16;
constexpr float kDitherScale = 1.0f / (1 << 17);

// The number of the hash that serves the first of 2 * kDitherSpan values.
inline uint32_t FirstHash(uint64_t position) {
  return static_cast<uint32_t>(position / (2 * kDitherSpan) * kDitherSpan);
}

// Of value `position`, in units of a code: in (-1/2, 1/2), an odd multiple of
// 2^-17.
inline float Dither(uint32_t seed, uint64_t position) {
  const uint32_t number =
      FirstHash(position) + static_cast<uint32_t>(position % kDitherSpan);
  uint32_t h = number * kDitherStep + seed;
  h = (h ^ (h >> 15)) * kDitherMix1;
  h = (h ^ (h >> 13)) * kDitherMix2;
  h ^= h >> 16;
  const bool upper = position / kDitherSpan % 2 != 0;
  const auto half = static_cast<int16_t>(upper ? h >> 16 : h);
  return static_cast<float>(2 * half + 1) * kDitherScale;
}

// The distance between two codes, and its inverse, as the arithmetic of T has
// them.
template <typename T>
struct Steps {
  T bound;
  T step;
  T inverse;
};

// Bounds outside of what T can double and invert are moved to its edge: a
// huge bound makes everything zero, a tiny one keeps everything raw.
template <typename T>
Steps<T> StepsOf(double bound) {
  const double largest = std::numeric_limits<T>::max() / 4;
  T b = static_cast<T>(std::min(bound, largest));
  if (static_cast<double>(b) > bound) b = std::nextafter(b, T(0));
  if (!(b >= 4 * std::numeric_limits<T>::min())) return {T(0), T(0), T(0)};
  return {b, 2 * b, 1 / (2 * b)};
}

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_DITHER_HPP_
