#include <bit>
#include <cmath>

#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/fp16_codec.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using DI = hn::Rebind<int32_t, DF>;
using DH = hn::Rebind<uint16_t, DF>;

// Floats' bits without the sign, from which on they are ...
constexpr int32_t kNormal = 0x38800000;    // normal as halves,
constexpr int32_t kTooLarge = 0x477FF000;  // larger than all halves,
constexpr int32_t kInfinite = 0x7F800000;

// Mostly integer arithmetic, so that all targets agree on denormals and NaN.
HWY_INLINE hn::Vec<DI> HalfOf(hn::Vec<DI> bits, hn::Vec<DI> size) {
  using hn::Set;
  const DF df;
  const DI di;
  // Half of the last place that goes, rounded to even, carries as it should.
  const auto odd = hn::And(hn::ShiftRight<13>(size), Set(di, 1));
  const auto normal = hn::ShiftRight<13>(
      hn::Add(hn::Sub(size, Set(di, (112 << 23) - 0xFFF)), odd));
  // Next to one half, the last place of a float is that of a denormal half.
  const auto half = Set(df, 0.5f);
  const auto small =
      hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(df, size), half)),
              hn::BitCast(di, half));
  // What is no number must not become infinite.
  const auto no_number = hn::And(
      hn::Or(hn::ShiftRight<13>(size), Set(di, 0x7E00)), Set(di, 0x7FFF));
  const auto special = hn::IfThenElse(hn::Gt(size, Set(di, kInfinite)),
                                      no_number, Set(di, 0x7C00));
  const auto result = hn::IfThenElse(
      hn::Lt(size, Set(di, kNormal)), small,
      hn::IfThenElse(hn::Lt(size, Set(di, kInfinite)), normal, special));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), Set(di, 0x8000));
  return hn::Or(result, sign);
}

// Returns how many values were done; the last few are left. *fits is whether
// none of them was finite and too large.
size_t ToHalves(const float* values, size_t n, uint16_t* halves, bool* fits) {
  const DF df;
  const DI di;
  const DH dh;
  const size_t lanes = hn::Lanes(df);
  auto too_large = hn::MaskFromVec(hn::Zero(di));
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::BitCast(di, hn::LoadU(df, values + i));
    const auto size = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
    too_large =
        hn::Or(too_large, hn::And(hn::Gt(size, hn::Set(di, kTooLarge - 1)),
                                  hn::Lt(size, hn::Set(di, kInfinite))));
    hn::StoreU(hn::DemoteTo(dh, HalfOf(bits, size)), dh, halves + i);
  }
  *fits = hn::AllFalse(di, too_large);
  return i;
}

size_t FromHalves(const uint16_t* halves, size_t n, float* values) {
  using hn::Set;
  const DF df;
  const DI di;
  const DH dh;
  const size_t lanes = hn::Lanes(df);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::PromoteTo(di, hn::LoadU(dh, halves + i));
    const auto size = hn::And(bits, Set(di, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, Set(di, 0x8000)));
    const auto bias = hn::IfThenElse(hn::Gt(size, Set(di, 0x7BFF)),
                                     Set(di, 224 << 23), Set(di, 112 << 23));
    const auto normal = hn::Add(hn::ShiftLeft<13>(size), bias);
    const auto small =
        hn::BitCast(di, hn::Mul(hn::ConvertTo(df, size), Set(df, 0x1p-24f)));
    const auto value =
        hn::IfThenElse(hn::Lt(size, Set(di, 0x400)), small, normal);
    hn::StoreU(hn::BitCast(df, hn::Or(value, sign)), df, values + i);
  }
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(ToHalves);
HWY_EXPORT(FromHalves);

// The half nearest to x, of two the even one; *fits becomes false when x is
// finite and its half is not.
template <typename T>
uint16_t ToHalf(T x, bool* fits) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const T size = std::abs(x);
  if (std::isnan(x)) {
    // The highest bits of what makes it special, the first of them set.
    int payload;
    if constexpr (std::is_same_v<T, float>) {
      payload = static_cast<int>(std::bit_cast<uint32_t>(x) >> 13);
    } else {
      payload = static_cast<int>(std::bit_cast<uint64_t>(x) >> 42);
    }
    return sign | 0x7E00 | (payload & 0x3FF);
  }
  if (size >= T(65520)) {
    *fits = *fits && std::isinf(x);
    return sign | 0x7C00;
  }
  if (size < T(0x1p-14)) {
    return sign | static_cast<uint16_t>(std::nearbyint(size * T(0x1p24)));
  }
  const int exponent = std::ilogb(size);
  const auto digits =
      static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<uint16_t>(sign + ((exponent + 15) << 10) +
                               (digits - 1024));
}

template <typename T>
T FromHalf(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int digits = half & 0x3FF;
  T size;
  if (exponent == 31) {
    // With the digits as the highest bits of what makes it special.
    if constexpr (std::is_same_v<T, float>) {
      size = std::bit_cast<float>(0x7F800000u | digits << 13);
    } else {
      size = std::bit_cast<double>(uint64_t{0x7FF} << 52 |
                                   static_cast<uint64_t>(digits) << 42);
    }
  } else if (exponent == 0) {
    size = std::ldexp(T(digits), -24);
  } else {
    size = std::ldexp(T(1024 + digits), exponent - 25);
  }
  return std::copysign(size, half & 0x8000 ? T(-1) : T(1));
}

// IEEE halves, in blocks. Where a value is too large for a half, its block is
// kept as it is.
struct Fp16Coder : BlockCoderBase {
  static constexpr std::string_view kName = "fp16";
  static constexpr std::string_view kGuarantee =
      "every value within 2^-11 of its size or 2^-25, whichever is more; "
      "zeros and infinities exact, NaN stay NaN";
  static constexpr uint8_t kId = 2;
  static constexpr bool kIsExact = false;

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    return n * sizeof(uint16_t);
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* out) const {
    size_t i = 0;
    bool fits = true;
    if constexpr (std::is_same_v<T, float>) {
      i = HWY_DYNAMIC_DISPATCH(ToHalves)(
          values, n, reinterpret_cast<uint16_t*>(out), &fits);
    }
    for (uint8_t* to = out + 2 * i; i < n; ++i)
      Store(to, ToHalf(values[i], &fits));
    return fits ? n * sizeof(uint16_t) : kKeepRaw;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* /*scratch*/,
              T* values) const {
    if (bytes.size() != n * sizeof(uint16_t)) return false;
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      i = HWY_DYNAMIC_DISPATCH(FromHalves)(
          reinterpret_cast<const uint16_t*>(bytes.data()), n, values);
    }
    for (; i < n; ++i) {
      uint16_t half;
      std::memcpy(&half, bytes.data() + 2 * i, sizeof(half));
      values[i] = FromHalf<T>(half);
    }
    return true;
  }
};

}  // namespace

const Codec& Fp16CodecInstance() {
  static const BlockCodec<Fp16Coder> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
