// Bit planes of low bits. Included once for every SIMD target.

#if defined(CAFFE_SZ_PLANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_PLANES_INL_HPP_
#undef CAFFE_SZ_PLANES_INL_HPP_
#else
#define CAFFE_SZ_PLANES_INL_HPP_
#endif

#include <bit>
#include <cstring>

#include "compress/sz/bits.hpp"
#include "compress/sz/kernels.hpp"
#include "hwy/highway.h"

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The bits of `from` that `mask` selects, moved together; and back.
HWY_INLINE uint64_t CollectBits(uint64_t from, uint64_t mask) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  return _pext_u64(from, mask);
#else
  uint64_t to = 0;
  for (int n = 0; mask != 0; mask &= mask - 1, ++n) {
    to |= (from >> std::countr_zero(mask) & 1) << n;
  }
  return to;
#endif
}

HWY_INLINE uint64_t SpreadBits(uint64_t from, uint64_t mask) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  return _pdep_u64(from, mask);
#else
  uint64_t to = 0;
  for (; mask != 0; mask &= mask - 1, from >>= 1) {
    to |= (from & 1) << std::countr_zero(mask);
  }
  return to;
#endif
}

using PlaneD = hn::CappedTag<uint8_t, kPlane>;
using PlaneV = hn::Vec<PlaneD>;
constexpr size_t kPlaneVectors = kPlane / hn::MaxLanes(PlaneD());
static_assert(kPlaneVectors * hn::MaxLanes(PlaneD()) == kPlane);

// One bit of every byte of 64: where `is(vector)` holds.
template <typename Is>
HWY_INLINE uint64_t PlaneBits(const PlaneV* group, const Is& is) {
  uint8_t bits[8];
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    hn::StoreMaskBits(PlaneD(), is(group[v]), bits + v * (8 / kPlaneVectors));
  }
  uint64_t word;
  std::memcpy(&word, bits, 8);
  return word;
}

// The 64 tokens at `from`, of which only `count` may be read.
HWY_INLINE void LoadBytes(const int8_t* from, size_t count, PlaneV* group) {
  const PlaneD d;
  alignas(64) int8_t last[kPlane] = {};
  if (HWY_UNLIKELY(count < kPlane)) {
    std::memcpy(last, from, count);
    from = last;
  }
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    group[v] = hn::BitCast(
        d, hn::LoadU(hn::RebindToSigned<PlaneD>(), from + v * hn::Lanes(d)));
  }
}

HWY_INLINE uint64_t NonZeroBits(const PlaneV* group) {
  return PlaneBits(
      group, [](PlaneV v) HWY_ATTR { return hn::Ne(v, hn::Zero(PlaneD())); });
}

// All bits of those bytes of vector v of 64 bytes whose bit is set.
HWY_INLINE PlaneV BytesWhere(uint64_t bits, size_t v) {
  const PlaneD d;
#if HWY_TARGET == HWY_AVX2
  // Every byte gets the byte that has its bit, and keeps that bit.
  const __m256i lower = _mm256_setr_epi64x(
      0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i place = _mm256_set1_epi64x(0x8040201008040201);
  const __m256i spread = _mm256_shuffle_epi8(
      _mm256_set1_epi64x(static_cast<int64_t>(bits)),
      _mm256_add_epi8(lower, _mm256_set1_epi8(static_cast<char>(4 * v))));
  return PlaneV{_mm256_cmpeq_epi8(_mm256_and_si256(spread, place), place)};
#else
  uint8_t bytes[8];
  std::memcpy(bytes, &bits, 8);
  return hn::VecFromMask(d,
                         hn::LoadMaskBits(d, bytes + v * (8 / kPlaneVectors)));
#endif
}

// group[i] += value where bit i is set.
HWY_INLINE void AddWhere(uint64_t bits, uint8_t value, PlaneV* group) {
  const PlaneV added = hn::Set(PlaneD(), value);
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    group[v] = hn::Add(group[v], hn::And(BytesWhere(bits, v), added));
  }
}

// Which of `count` tokens are not 0, as bits.
HWY_INLINE uint64_t PresentBits(const int8_t* tokens, size_t count) {
  PlaneV group[kPlaneVectors];
  LoadBytes(tokens, count, group);
  return NonZeroBits(group);
}

size_t PackLow(const int8_t* tokens, const uint16_t* low, size_t n,
               int low_bits, uint8_t* bits) {
  const PlaneD d;
  BitWriter out(bits);
  alignas(64) uint8_t bytes[kPlane];
  for (size_t at = 0; at < n; at += kPlane) {
    const size_t count = at + kPlane <= n ? kPlane : n - at;
    const uint64_t present = PresentBits(tokens + at, count);
    if (present == 0) continue;
    const int kept = std::popcount(present);
    for (int first = 0; first < low_bits; first += 8) {
      for (size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<uint8_t>(low[at + i] >> first);
      }
      PlaneV group[kPlaneVectors];
      for (size_t v = 0; v < kPlaneVectors; ++v) {
        group[v] = hn::Load(d, bytes + v * hn::Lanes(d));
      }
      const int last = low_bits - first < 8 ? low_bits - first : 8;
      for (int p = 0; p < last; ++p) {
        const PlaneV bit = hn::Set(d, static_cast<uint8_t>(1 << p));
        const uint64_t plane = PlaneBits(
            group, [&](PlaneV v) HWY_ATTR { return hn::TestBit(v, bit); });
        out.PutLong(CollectBits(plane, present), kept);
      }
    }
  }
  return out.Finish();
}

bool UnpackLow(BitReader* reader, const int8_t* tokens, size_t n, int low_bits,
               uint16_t* low) {
  const PlaneD d;
  BitReader in = *reader;
  alignas(64) uint8_t bytes[kPlane];
  for (size_t at = 0; at < n; at += kPlane) {
    const size_t count = at + kPlane <= n ? kPlane : n - at;
    const uint64_t present = PresentBits(tokens + at, count);
    const int kept = std::popcount(present);
    if (!in.Has(static_cast<uint64_t>(kept) * low_bits)) return false;
    for (int first = 0; first < low_bits; first += 8) {
      PlaneV group[kPlaneVectors];
      for (PlaneV& v : group) v = hn::Zero(d);
      const int last = low_bits - first < 8 ? low_bits - first : 8;
      for (int p = 0; p < last; ++p) {
        const uint64_t plane = SpreadBits(in.GetLong(kept), present);
        AddWhere(plane, static_cast<uint8_t>(1 << p), group);
      }
      for (size_t v = 0; v < kPlaneVectors; ++v) {
        hn::Store(group[v], d, bytes + v * hn::Lanes(d));
      }
      for (size_t i = 0; i < count; ++i) {
        const uint16_t part = static_cast<uint16_t>(bytes[i] << first);
        low[at + i] = first == 0 ? part : low[at + i] | part;
      }
    }
  }
  *reader = in;
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
