#include "cpu/shared_exponent.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/shared_exponent.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"

#ifndef CAFFE_SRC_CPU_SHARED_EXPONENT_ONCE_
#define CAFFE_SRC_CPU_SHARED_EXPONENT_ONCE_
namespace caffe::cpu {

namespace {

constexpr int kHalfGroup = kExponentGroup / 2;
constexpr uint32_t kStep = 0x9E3779B1U;
constexpr uint32_t kMix1 = 0x85EBCA77U;
constexpr uint32_t kMix2 = 0xC2B2AE3DU;
// Moves levels above zero, where to cut digits off is to round down.
constexpr int kOffset = 128;
constexpr float kUniformScale = 1.0F / 65536;
constexpr int kNotFinite = 255;

// The exponent of a group, from the bits of its largest value.
int ExponentOf(uint32_t largest) {
  const int exponent = static_cast<int>(largest >> 23);
  // From 2^127 on rounding could give infinities.
  if (exponent >= 254) return kNotFinite;
  // 127 is 1.984375 * 2^6.
  const bool is_above_127 = (largest & 0x7FFFFF) > 0x7E0000;
  return std::max(1, exponent - 6 + (is_above_127 ? 1 : 0));
}

float PowerOfTwo(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent) << 23);
}

}  // namespace

}  // namespace caffe::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace caffe::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using DI = hn::Rebind<int32_t, DF>;
using DU = hn::Rebind<uint32_t, DF>;
using D8 = hn::Rebind<int8_t, DF>;

// The largest absolute value of a group, as bits.
uint32_t LargestOfGroup(const float* values) {
  const DF df;
  const DI di;
  auto largest = hn::Zero(di);
  for (int i = 0; i < kExponentGroup; i += static_cast<int>(hn::Lanes(df))) {
    const auto bits = hn::BitCast(di, hn::Abs(hn::LoadU(df, values + i)));
    largest = hn::Max(largest, bits);
  }
  return static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
}

// See Hash() for one value.
HWY_INLINE hn::Vec<DU> HashesFrom(uint32_t seed, uint32_t counter) {
  const DU du;
  auto h = hn::Add(hn::Mul(hn::Iota(du, counter), hn::Set(du, kStep)),
                   hn::Set(du, seed));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, kMix1));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), hn::Set(du, kMix2));
  return hn::Xor(h, hn::ShiftRight<16>(h));
}

// See Level() for one value.
HWY_INLINE void StoreLevels(hn::Vec<DF> scaled, hn::Vec<DU> random,
                            int8_t* levels) {
  const DF df;
  const DI di;
  const auto uniform = hn::Mul(hn::ConvertTo(df, hn::BitCast(di, random)),
                               hn::Set(df, kUniformScale));
  const auto shifted =
      hn::Add(scaled, hn::Add(uniform, hn::Set(df, float{kOffset})));
  const auto level = hn::Sub(hn::ConvertTo(di, shifted), hn::Set(di, kOffset));
  hn::StoreU(hn::DemoteTo(D8(), level), D8(), levels);
}

void PackGroup(const float* values, float inverse, uint32_t seed,
               uint32_t counter, int8_t* levels) {
  const DF df;
  const auto factor = hn::Set(df, inverse);
  const auto low = hn::Set(DU(), 0xFFFF);
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int i = 0; i < kHalfGroup; i += lanes) {
    const auto hashes = HashesFrom(seed, counter + static_cast<uint32_t>(i));
    StoreLevels(hn::Mul(hn::LoadU(df, values + i), factor),
                hn::ShiftRight<16>(hashes), levels + i);
    StoreLevels(hn::Mul(hn::LoadU(df, values + kHalfGroup + i), factor),
                hn::And(hashes, low), levels + kHalfGroup + i);
  }
}

void UnpackGroup(const int8_t* levels, float scale, float* values) {
  const DF df;
  const DI di;
  const auto factor = hn::Set(df, scale);
  for (int i = 0; i < kExponentGroup; i += static_cast<int>(hn::Lanes(df))) {
    const auto level = hn::PromoteTo(di, hn::LoadU(D8(), levels + i));
    hn::StoreU(hn::Mul(hn::ConvertTo(df, level), factor), df, values + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::cpu {

namespace {

HWY_EXPORT(LargestOfGroup);
HWY_EXPORT(PackGroup);
HWY_EXPORT(UnpackGroup);

// 16 bits of it each are for a value in the first and in the second half of a
// group.
uint32_t Hash(uint32_t seed, uint32_t counter) {
  uint32_t h = counter * kStep + seed;
  h = (h ^ (h >> 15)) * kMix1;
  h = (h ^ (h >> 13)) * kMix2;
  return h ^ (h >> 16);
}

template <typename Dtype>
int8_t Level(Dtype scaled, uint32_t random) {
  const Dtype shifted =
      scaled + (static_cast<Dtype>(random) * Dtype(kUniformScale) + kOffset);
  return static_cast<int8_t>(static_cast<int>(shifted) - kOffset);
}

// As a float that is no smaller.
template <typename Dtype>
uint32_t LargestOf(int n, const Dtype* values) {
  Dtype largest = 0;
  for (int i = 0; i < n; ++i) {
    const Dtype size = std::fabs(values[i]);
    if (!(size <= std::numeric_limits<float>::max())) {
      return std::bit_cast<uint32_t>(std::numeric_limits<float>::infinity());
    }
    largest = std::max(largest, size);
  }
  auto rounded = static_cast<float>(largest);
  if (rounded < largest) {
    rounded = std::nextafter(rounded, std::numeric_limits<float>::infinity());
  }
  return std::bit_cast<uint32_t>(rounded);
}

template <typename Dtype>
void PlainPack(int n, const Dtype* values, Dtype inverse, uint32_t seed,
               uint32_t counter, int8_t* levels) {
  for (int i = 0; i < n; ++i) {
    const uint32_t hash = Hash(seed, counter + i % kHalfGroup);
    levels[i] =
        Level(values[i] * inverse, i < kHalfGroup ? hash >> 16 : hash & 0xFFFF);
  }
}

}  // namespace

template <typename Dtype>
void PackSharedExponent(int64_t n, const Dtype* values, uint32_t seed,
                        int64_t first_group, int8_t* levels,
                        uint8_t* exponents) {
  constexpr bool kIsFloat = std::is_same_v<Dtype, float>;
  for (int64_t i = 0; i < n; i += kExponentGroup) {
    const int some = static_cast<int>(std::min<int64_t>(n - i, kExponentGroup));
    const int64_t group = i / kExponentGroup;
    const bool is_vector = kIsFloat && some == kExponentGroup;
    const auto counter =
        static_cast<uint32_t>((first_group + group) * kHalfGroup);
    uint32_t largest = 0;
    if constexpr (kIsFloat) {
      if (is_vector) {
        largest = HWY_DYNAMIC_DISPATCH(LargestOfGroup)(values + i);
      }
    }
    if (!is_vector) largest = LargestOf(some, values + i);
    const int exponent = ExponentOf(largest);
    exponents[group] = static_cast<uint8_t>(exponent);
    if (exponent == kNotFinite) {
      std::fill_n(levels + i, some, int8_t{0});
      continue;
    }
    const float inverse = PowerOfTwo(254 - exponent);
    if constexpr (kIsFloat) {
      if (is_vector) {
        HWY_DYNAMIC_DISPATCH(PackGroup)
        (values + i, inverse, seed, counter, levels + i);
      }
    }
    if (!is_vector) {
      PlainPack(some, values + i, Dtype(inverse), seed, counter, levels + i);
    }
  }
}

template <typename Dtype>
void UnpackSharedExponent(int64_t n, const int8_t* levels,
                          const uint8_t* exponents, Dtype* values) {
  for (int64_t i = 0; i < n; i += kExponentGroup) {
    const int some = static_cast<int>(std::min<int64_t>(n - i, kExponentGroup));
    // Infinite for a group that was not finite: times zero that is NaN.
    const float scale = PowerOfTwo(exponents[i / kExponentGroup]);
    if constexpr (std::is_same_v<Dtype, float>) {
      if (some == kExponentGroup) {
        HWY_DYNAMIC_DISPATCH(UnpackGroup)(levels + i, scale, values + i);
        continue;
      }
    }
    for (int k = 0; k < some; ++k) {
      values[i + k] = static_cast<Dtype>(levels[i + k]) * Dtype(scale);
    }
  }
}

double AbsoluteSumOfPacked(int64_t n, const int8_t* levels,
                           const uint8_t* exponents) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kExponentGroup) {
    const int some = static_cast<int>(std::min<int64_t>(n - i, kExponentGroup));
    int group = 0;
    for (int k = 0; k < some; ++k) group += std::abs(int{levels[i + k]});
    sum += group * double{PowerOfTwo(exponents[i / kExponentGroup])};
  }
  return sum;
}

#define INSTANTIATE_SHARED_EXPONENT(Dtype)                                   \
  template void PackSharedExponent(int64_t, const Dtype*, uint32_t, int64_t, \
                                   int8_t*, uint8_t*);                       \
  template void UnpackSharedExponent(int64_t, const int8_t*, const uint8_t*, \
                                     Dtype*)

INSTANTIATE_SHARED_EXPONENT(float);
INSTANTIATE_SHARED_EXPONENT(double);

}  // namespace caffe::cpu
#endif  // HWY_ONCE
