#ifndef CAFFE_SRC_COMPRESS_GROUPED_HPP_
#define CAFFE_SRC_COMPRESS_GROUPED_HPP_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "compress/sz/dither.hpp"

// Quantisation between the least and the largest value of a group, one value
// at a time; the vector kernels do the same, operation by operation.
namespace caffe::codec {

constexpr size_t kGroupValues = 256;

template <int kBits>
constexpr int kTopLevel = (1 << kBits) - 1;

// Level 0 is `least`, and so on in steps. A negative step says that the group
// is kept raw.
template <typename T>
struct GroupScale {
  T least;
  T step;
  T inverse;
};

template <int kBits, typename T>
GroupScale<T> ScaleOf(T least, T most) {
  const T range = most - least;
  const T step = range / T(kTopLevel<kBits>);
  if (!std::isfinite(range)) return {T(0), T(-1), T(0)};
  // The sum turns a negative zero into a positive one.
  if (range == T(0)) return {least + T(0), T(0), T(0)};
  if (step < std::numeric_limits<T>::min()) return {T(0), T(-1), T(0)};
  // A step that was rounded up may lead past the largest number there is.
  const T reached = T(kTopLevel<kBits>) * step + least;
  if (!std::isfinite(reached)) return {T(0), T(-1), T(0)};
  return {least + T(0), step, T(1) / step};
}

constexpr float kUniformScale = 1.0f / (1 << 24);

// In [0, 1): a hash of seed and position.
inline float Uniform(uint32_t seed, uint32_t position) {
  uint32_t h = position * sz::kDitherStep + seed;
  h = (h ^ (h >> 15)) * sz::kDitherMix1;
  h = (h ^ (h >> 13)) * sz::kDitherMix2;
  h ^= h >> 16;
  return static_cast<float>(h >> 8) * kUniformScale;
}

// One of the two levels next to x: the upper one as often as x is near it.
template <int kBits, typename T>
int Level(T x, const GroupScale<T>& scale, float uniform) {
  const T scaled = std::min((x - scale.least) * scale.inverse,
                            static_cast<T>(kTopLevel<kBits>));
  const T below = std::floor(scaled);
  return static_cast<int>(below) + (T(uniform) < scaled - below ? 1 : 0);
}

// On one whole group each; [0] is for 2 bits, [1] for 4, [2] for 8.
struct GroupKernels {
  void (*find_range)(const float* values, float* least, float* most);
  void (*pack[3])(const float* values, const GroupScale<float>& scale,
                  uint32_t seed, uint32_t position, uint8_t* out);
  void (*unpack[3])(const uint8_t* in, float least, float step, float* values);
};

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_GROUPED_HPP_
