#include <cmath>

#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"
#include "compress/grouped.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/grouped_codec.cpp"
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
using DU = hn::Rebind<uint32_t, DF>;
using D8 = hn::Rebind<uint8_t, DF>;

// Of a whole group. Values that are not finite make both of them so.
void FindRange(const float* values, float* least, float* most) {
  const DF df;
  const DI di;
  auto low = hn::LoadU(df, values);
  auto high = low;
  auto special = hn::MaskFromVec(hn::Zero(di));
  const auto exponent = hn::Set(di, 0x7F800000);
  for (size_t i = 0; i < kGroupValues; i += hn::Lanes(df)) {
    const auto v = hn::LoadU(df, values + i);
    low = hn::Min(low, v);
    high = hn::Max(high, v);
    special = hn::Or(special,
                     hn::Eq(hn::And(hn::BitCast(di, v), exponent), exponent));
  }
  const bool finite = hn::AllFalse(di, special);
  const float infinity = std::numeric_limits<float>::infinity();
  *least = finite ? hn::GetLane(hn::MinOfLanes(df, low)) : -infinity;
  *most = finite ? hn::GetLane(hn::MaxOfLanes(df, high)) : infinity;
}

// See Uniform() for one value.
HWY_INLINE hn::Vec<DF> UniformFrom(uint32_t seed, uint32_t position) {
  using hn::Set;
  const DU du;
  const auto counter = hn::Iota(du, position);
  auto h = hn::Add(hn::Mul(counter, Set(du, sz::kDitherStep)), Set(du, seed));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), Set(du, sz::kDitherMix1));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), Set(du, sz::kDitherMix2));
  h = hn::ShiftRight<8>(hn::Xor(h, hn::ShiftRight<16>(h)));
  return hn::Mul(hn::ConvertTo(DF(), hn::BitCast(DI(), h)),
                 Set(DF(), kUniformScale));
}

// See Level() for one value.
template <int kBits>
HWY_INLINE hn::Vec<DI> LevelsOf(hn::Vec<DF> x, const GroupScale<float>& scale,
                                hn::Vec<DF> uniform) {
  const DF df;
  const auto top = hn::Set(df, static_cast<float>(kTopLevel<kBits>));
  const auto scaled = hn::Min(
      hn::Mul(hn::Sub(x, hn::Set(df, scale.least)), hn::Set(df, scale.inverse)),
      top);
  const auto below = hn::Floor(scaled);
  const auto up = hn::Lt(uniform, hn::Sub(scaled, below));
  const auto level = hn::Add(below, hn::IfThenElseZero(up, hn::Set(df, 1.0f)));
  return hn::ConvertTo(DI(), level);
}

template <int kBits>
void PackGroup(const float* values, const GroupScale<float>& scale,
               uint32_t seed, uint32_t position, uint8_t* out) {
  constexpr size_t kStride = kGroupValues * kBits / 8;
  const DF df;
  for (size_t i = 0; i < kStride; i += hn::Lanes(df)) {
    auto byte = hn::Zero(DI());
    for (int k = 0; k < 8 / kBits; ++k) {
      const size_t at = i + k * kStride;
      const auto level = LevelsOf<kBits>(
          hn::LoadU(df, values + at), scale,
          UniformFrom(seed, position + static_cast<uint32_t>(at)));
      byte = hn::Or(byte, hn::ShiftLeftSame(level, k * kBits));
    }
    hn::StoreU(hn::DemoteTo(D8(), byte), D8(), out + i);
  }
}

template <int kBits>
void UnpackGroup(const uint8_t* in, float least, float step, float* values) {
  constexpr size_t kStride = kGroupValues * kBits / 8;
  const DF df;
  const DI di;
  const auto mask = hn::Set(di, kTopLevel<kBits>);
  for (size_t i = 0; i < kStride; i += hn::Lanes(df)) {
    const auto byte = hn::PromoteTo(di, hn::LoadU(D8(), in + i));
    for (int k = 0; k < 8 / kBits; ++k) {
      const auto level = hn::And(hn::ShiftRightSame(byte, k * kBits), mask);
      const auto offset = hn::Mul(hn::ConvertTo(df, level), hn::Set(df, step));
      hn::StoreU(hn::Add(offset, hn::Set(df, least)), df,
                 values + i + k * kStride);
    }
  }
}

const GroupKernels* TargetGroupKernels() {
  static constexpr GroupKernels kernels = {
      .find_range = FindRange,
      .pack = {PackGroup<2>, PackGroup<4>, PackGroup<8>},
      .unpack = {UnpackGroup<2>, UnpackGroup<4>, UnpackGroup<8>},
  };
  return &kernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(TargetGroupKernels);

constexpr int KernelIndex(int bits) {
  return bits == 2 ? 0 : bits == 4 ? 1 : 2;
}

template <typename T>
void PlainRange(const T* values, size_t n, T* least, T* most) {
  *least = *most = values[0];
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) {
      *most = std::numeric_limits<T>::infinity();
      *least = -*most;
      return;
    }
    *least = std::min(*least, values[i]);
    *most = std::max(*most, values[i]);
  }
}

// Groups of 256 values between their least and their largest one: as ActNN has
// them, rounded up or down at random, so that the mean of the error is zero.
template <int kBits>
struct GroupedCoder : BlockCoderBase {
  static constexpr std::string_view kName = kBits == 8   ? "q8"
                                            : kBits == 4 ? "q4"
                                                         : "q2";
  static constexpr std::string_view kGuarantee =
      kBits == 8 ? "unbiased, within 1/255 of the range of 256 neighbours; "
                   "zeros not exact; groups with infinities or NaN exact"
      : kBits == 4
          ? "unbiased, within 1/15 of the range of 256 neighbours; zeros not "
            "exact; groups with infinities or NaN exact"
          : "unbiased, within 1/3 of the range of 256 neighbours; zeros not "
            "exact; groups with infinities or NaN exact";
  static constexpr uint8_t kId = kBits == 8 ? 5 : kBits == 4 ? 6 : 7;
  static constexpr bool kIsExact = false;

  // Only for the record: the decoder does not need it.
  uint32_t seed = 0;

  void Choose(const Shape& /*shape*/, const Settings& settings) {
    seed = settings.seed;
  }
  static constexpr size_t kMetaBytes = sizeof(uint32_t);
  void Write(uint8_t*& to) const { Store(to, seed); }
  void Read(ByteReader* in) { seed = in->Get<uint32_t>(); }

  static size_t PackedBytes(size_t n) { return (n * kBits + 7) / 8; }

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    const size_t groups = (n + kGroupValues - 1) / kGroupValues;
    return groups * 2 * sizeof(T) + n * sizeof(T);
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t position,
                uint8_t* /*scratch*/, uint8_t* out) const {
    const GroupKernels& kernels = *HWY_DYNAMIC_DISPATCH(TargetGroupKernels)();
    uint8_t* to = out;
    for (size_t i = 0; i < n; i += kGroupValues) {
      const size_t some = std::min(n - i, kGroupValues);
      const auto at = static_cast<uint32_t>(position + i);
      const bool is_vector = std::is_same_v<T, float> && some == kGroupValues;
      T least, most;
      if constexpr (std::is_same_v<T, float>) {
        if (is_vector) kernels.find_range(values + i, &least, &most);
      }
      if (!is_vector) PlainRange(values + i, some, &least, &most);
      const auto scale = ScaleOf<kBits>(least, most);
      Store(to, scale.least);
      Store(to, scale.step);
      if (scale.step < T(0)) {
        std::memcpy(to, values + i, some * sizeof(T));
        to += some * sizeof(T);
        continue;
      }
      if constexpr (std::is_same_v<T, float>) {
        if (is_vector) {
          kernels.pack[KernelIndex(kBits)](values + i, scale, seed, at, to);
        }
      }
      if (!is_vector) PlainPack(values + i, some, scale, at, to);
      to += PackedBytes(some);
    }
    return to - out;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* /*scratch*/,
              T* values) const {
    const GroupKernels& kernels = *HWY_DYNAMIC_DISPATCH(TargetGroupKernels)();
    ByteReader in(bytes);
    for (size_t i = 0; i < n; i += kGroupValues) {
      const size_t some = std::min(n - i, kGroupValues);
      const T least = in.Get<T>();
      const T step = in.Get<T>();
      if (step < T(0)) {
        std::memcpy(values + i, in.Take(some * sizeof(T)).data(),
                    some * sizeof(T));
        continue;
      }
      const auto packed = in.Take(PackedBytes(some));
      if constexpr (std::is_same_v<T, float>) {
        if (some == kGroupValues) {
          kernels.unpack[KernelIndex(kBits)](packed.data(), least, step,
                                             values + i);
          continue;
        }
      }
      for (size_t k = 0; k < some; ++k) {
        const int byte = packed[k % packed.size()];
        const int level = byte >> k / packed.size() * kBits & kTopLevel<kBits>;
        values[i + k] = static_cast<T>(level) * step + least;
      }
    }
    return in.Rest().empty();
  }

 private:
  // Byte i of b has values i, i + b, ..., the first in the lowest bits.
  template <typename T>
  void PlainPack(const T* values, size_t n, const GroupScale<T>& scale,
                 uint32_t position, uint8_t* out) const {
    const size_t packed = PackedBytes(n);
    std::memset(out, 0, packed);
    for (size_t i = 0; i < n; ++i) {
      const int level = Level<kBits>(
          values[i], scale, Uniform(seed, position + static_cast<uint32_t>(i)));
      out[i % packed] |= static_cast<uint8_t>(level << i / packed * kBits);
    }
  }
};

}  // namespace

const Codec& Q8CodecInstance() {
  static const BlockCodec<GroupedCoder<8>> codec;
  return codec;
}

const Codec& Q4CodecInstance() {
  static const BlockCodec<GroupedCoder<4>> codec;
  return codec;
}

const Codec& Q2CodecInstance() {
  static const BlockCodec<GroupedCoder<2>> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
