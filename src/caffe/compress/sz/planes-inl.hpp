// Bit planes of groups of tokens and of low bits. Included once for every SIMD
// target.

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

using PlaneD = hn::CappedTag<uint8_t, kGroup>;
using PlaneV = hn::Vec<PlaneD>;
constexpr size_t kPlaneVectors = kGroup / hn::MaxLanes(PlaneD());
static_assert(kPlaneVectors * hn::MaxLanes(PlaneD()) == kGroup);

// One bit of every byte of a group: where `is(vector)` holds.
template <typename Is>
HWY_INLINE uint64_t GroupBits(const PlaneV* group, const Is& is) {
  uint8_t bits[8];
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    hn::StoreMaskBits(PlaneD(), is(group[v]), bits + v * (8 / kPlaneVectors));
  }
  uint64_t word;
  std::memcpy(&word, bits, 8);
  return word;
}

// The 64 tokens at `from`, of which only `count` may be read.
HWY_INLINE void LoadGroup(const int8_t* from, size_t count, PlaneV* group) {
  const PlaneD d;
  alignas(64) int8_t last[kGroup] = {};
  if (HWY_UNLIKELY(count < kGroup)) {
    std::memcpy(last, from, count);
    from = last;
  }
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    group[v] = hn::BitCast(
        d, hn::LoadU(hn::RebindToSigned<PlaneD>(), from + v * hn::Lanes(d)));
  }
}

HWY_INLINE uint64_t NonZeroBits(const PlaneV* group) {
  return GroupBits(
      group, [](PlaneV v) HWY_ATTR { return hn::Ne(v, hn::Zero(PlaneD())); });
}

// The sum and the largest of |token| - 1 over a group's tokens that are not 0.
HWY_INLINE void SumAndLargest(const PlaneV* magnitude, const PlaneV* group,
                              unsigned* sum, unsigned* largest) {
  const PlaneD d;
  const hn::Repartition<uint64_t, PlaneD> d64;
  auto sums = hn::Zero(d64);
  PlaneV top = hn::Zero(d);
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    const PlaneV m =
        hn::IfThenZeroElse(hn::Eq(group[v], hn::Zero(d)), magnitude[v]);
    sums = hn::Add(sums, hn::SumsOf8(m));
    top = hn::Max(top, m);
  }
  *sum = static_cast<unsigned>(hn::GetLane(hn::SumOfLanes(d64, sums)));
  alignas(64) uint8_t tops[hn::MaxLanes(PlaneD())];
  hn::Store(top, d, tops);
  uint8_t most = 0;
  for (const uint8_t t : tops) most = t > most ? t : most;
  *largest = most;
}

size_t PackGroups(const int8_t* tokens, size_t n, uint8_t* headers,
                  uint8_t* bits) {
  const PlaneD d;
  const hn::RebindToSigned<PlaneD> di;
  BitWriter out(bits);
  for (size_t at = 0; at < n; at += kGroup) {
    PlaneV token[kPlaneVectors];
    LoadGroup(tokens + at, n - at, token);
    const uint64_t present = NonZeroBits(token);
    if (present == 0) {
      *headers++ = kAllZero;
      continue;
    }
    // Of no meaning where the token is 0.
    PlaneV magnitude[kPlaneVectors];
    for (size_t v = 0; v < kPlaneVectors; ++v) {
      magnitude[v] = hn::Sub(hn::BitCast(d, hn::Abs(hn::BitCast(di, token[v]))),
                             hn::Set(d, uint8_t{1}));
    }
    const uint64_t negative = GroupBits(token, [&](PlaneV v) HWY_ATTR {
      return hn::TestBit(v, hn::Set(d, uint8_t{0x80}));
    });
    const int count = std::popcount(present);
    unsigned sum, largest;
    SumAndLargest(magnitude, token, &sum, &largest);
    const int low = ChooseLowPlanes(sum, largest, count);
    const int steps = static_cast<int>(largest >> low);
    const bool has_zeros = count < kGroup;
    *headers++ = static_cast<uint8_t>(low | steps << kStepsShift |
                                      (negative != 0 ? kHasSigns : 0) |
                                      (has_zeros ? kHasZeros : 0));
    if (has_zeros) out.PutLong(present, kGroup);
    if (negative != 0) out.PutLong(CollectBits(negative, present), count);
    for (int p = 0; p < low; ++p) {
      const PlaneV bit = hn::Set(d, static_cast<uint8_t>(1 << p));
      const uint64_t plane = GroupBits(
          magnitude, [&](PlaneV v) HWY_ATTR { return hn::TestBit(v, bit); });
      out.PutLong(CollectBits(plane, present), count);
    }
    uint64_t asked = present;
    for (int s = 0; s < steps; ++s) {
      // m >> low > s is the same as m > (s << low | all low bits).
      const PlaneV threshold = hn::Set(d, static_cast<uint8_t>((s + 1) << low));
      const uint64_t exceeds = GroupBits(magnitude, [&](PlaneV v) HWY_ATTR {
        return hn::Eq(hn::Max(v, threshold), v);
      });
      out.PutLong(CollectBits(exceeds, asked), std::popcount(asked));
      asked &= exceeds;
    }
  }
  return out.Finish();
}

HWY_INLINE PlaneV BytesWhere(const uint8_t* bits, uint8_t value) {
  const PlaneD d;
  return hn::IfThenElseZero(hn::LoadMaskBits(d, bits), hn::Set(d, value));
}

// group[i] += value where bit i is set.
HWY_INLINE void AddWhere(uint64_t bits, uint8_t value, PlaneV* group) {
  uint8_t words[8];
  std::memcpy(words, &bits, 8);
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    group[v] =
        hn::Add(group[v], BytesWhere(words + v * (8 / kPlaneVectors), value));
  }
}

// Reads the magnitudes of a group whose header is not kAllZero.
HWY_INLINE bool UnpackGroup(uint8_t header, BitReader* in, PlaneV* group) {
  const PlaneD d;
  const hn::RebindToSigned<PlaneD> di;
  uint64_t present = ~uint64_t{0};
  if (header & kHasZeros) {
    if (!in->Has(kGroup)) return false;
    present = in->GetLong(kGroup);
  }
  const int count = std::popcount(present);
  const int low = header & kAllZero;
  const int steps = header >> kStepsShift & kMaxSteps;
  const bool has_signs = (header & kHasSigns) != 0;
  if (!in->Has(count * (low + has_signs))) return false;
  const uint64_t negative =
      has_signs ? SpreadBits(in->GetLong(count), present) : 0;
  for (size_t v = 0; v < kPlaneVectors; ++v) group[v] = hn::Zero(d);
  AddWhere(present, 1, group);
  for (int p = 0; p < low; ++p) {
    AddWhere(SpreadBits(in->GetLong(count), present),
             static_cast<uint8_t>(1 << p), group);
  }
  uint64_t asked = present;
  for (int s = 0; s < steps; ++s) {
    const int asked_count = std::popcount(asked);
    if (!in->Has(asked_count)) return false;
    asked = SpreadBits(in->GetLong(asked_count), asked);
    AddWhere(asked, static_cast<uint8_t>(1 << low), group);
  }
  if (!has_signs) return true;
  uint8_t words[8];
  std::memcpy(words, &negative, 8);
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    const auto token = hn::BitCast(di, group[v]);
    const auto is_negative =
        hn::LoadMaskBits(di, words + v * (8 / kPlaneVectors));
    group[v] =
        hn::BitCast(d, hn::IfThenElse(is_negative, hn::Neg(token), token));
  }
  return true;
}

bool UnpackGroups(const uint8_t* headers, const uint8_t* bits, size_t bit_bytes,
                  size_t n, int8_t* tokens) {
  const PlaneD d;
  const hn::RebindToSigned<PlaneD> di;
  BitReader in(bits, bit_bytes);
  for (size_t at = 0; at < n; at += kGroup) {
    const uint8_t header = *headers++;
    PlaneV group[kPlaneVectors];
    if ((header & kAllZero) == kAllZero) {
      for (PlaneV& v : group) v = hn::Zero(d);
    } else if (!UnpackGroup(header, &in, group)) {
      return false;
    }
    alignas(64) int8_t last[kGroup];
    const bool whole = at + kGroup <= n;
    int8_t* const to = whole ? tokens + at : last;
    for (size_t v = 0; v < kPlaneVectors; ++v) {
      hn::StoreU(hn::BitCast(di, group[v]), di, to + v * hn::Lanes(d));
    }
    if (!whole) std::memcpy(tokens + at, last, n - at);
  }
  return in.AtEnd();
}

void Subtract(const int8_t* tokens, size_t n, size_t distance,
              int8_t* differences) {
  const size_t first = distance < n ? distance : n;
  std::memcpy(differences, tokens, first);
  const hn::ScalableTag<int8_t> d;
  size_t i = first;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(
        hn::Sub(hn::LoadU(d, tokens + i), hn::LoadU(d, tokens + i - distance)),
        d, differences + i);
  }
  for (; i < n; ++i) {
    differences[i] = static_cast<int8_t>(tokens[i] - tokens[i - distance]);
  }
}

// tokens[i] += tokens[i - 1]: sums within 16 bytes by doubling steps, then the
// last sum so far to all of the next.
HWY_INLINE size_t AccumulateLeft(size_t n, int8_t* tokens) {
  const hn::FixedTag<int8_t, 16> d;
  auto carry = hn::Zero(d);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    auto sum = hn::LoadU(d, tokens + i);
    sum = hn::Add(sum, hn::ShiftLeftBytes<1>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<2>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<4>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<8>(d, sum));
    sum = hn::Add(sum, carry);
    hn::StoreU(sum, d, tokens + i);
    carry = hn::TableLookupBytes(sum, hn::Set(d, int8_t{15}));
  }
  return i;
}

void Accumulate(size_t n, size_t distance, int8_t* tokens) {
  const hn::ScalableTag<int8_t> d;
  size_t i = distance;
  if (distance == 1) {
    i = std::max(i, AccumulateLeft(n, tokens));
  } else if (distance >= hn::Lanes(d)) {
    // Nearer than a vector, and it would reach into what it depends on.
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
      hn::StoreU(hn::Add(hn::LoadU(d, tokens + i),
                         hn::LoadU(d, tokens + i - distance)),
                 d, tokens + i);
    }
  }
  for (; i < n; ++i) {
    tokens[i] = static_cast<int8_t>(tokens[i] + tokens[i - distance]);
  }
}

// Which of `count` tokens are not 0, as bits.
HWY_INLINE uint64_t PresentBits(const int8_t* tokens, size_t count) {
  PlaneV group[kPlaneVectors];
  LoadGroup(tokens, count, group);
  return NonZeroBits(group);
}

size_t PackLow(const int8_t* tokens, const uint16_t* low, size_t n,
               int low_bits, uint8_t* bits) {
  const PlaneD d;
  BitWriter out(bits);
  alignas(64) uint8_t bytes[kGroup];
  for (size_t at = 0; at < n; at += kGroup) {
    const size_t count = at + kGroup <= n ? kGroup : n - at;
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
        const uint64_t plane = GroupBits(
            group, [&](PlaneV v) HWY_ATTR { return hn::TestBit(v, bit); });
        out.PutLong(CollectBits(plane, present), kept);
      }
    }
  }
  return out.Finish();
}

bool UnpackLow(const int8_t* tokens, const uint8_t* bits, size_t bit_bytes,
               size_t n, int low_bits, uint16_t* low) {
  const PlaneD d;
  BitReader in(bits, bit_bytes);
  alignas(64) uint8_t bytes[kGroup];
  for (size_t at = 0; at < n; at += kGroup) {
    const size_t count = at + kGroup <= n ? kGroup : n - at;
    const uint64_t present = PresentBits(tokens + at, count);
    const int kept = std::popcount(present);
    if (!in.Has(static_cast<int64_t>(kept) * low_bits)) return false;
    for (int first = 0; first < low_bits; first += 8) {
      PlaneV group[kPlaneVectors];
      for (PlaneV& v : group) v = hn::Zero(d);
      const int last = low_bits - first < 8 ? low_bits - first : 8;
      for (int p = 0; p < last; ++p) {
        const uint64_t plane = SpreadBits(in.GetLong(kept), present);
        uint8_t words[8];
        std::memcpy(words, &plane, 8);
        for (size_t v = 0; v < kPlaneVectors; ++v) {
          group[v] =
              hn::Or(group[v], BytesWhere(words + v * (8 / kPlaneVectors),
                                          static_cast<uint8_t>(1 << p)));
        }
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
  return in.AtEnd();
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
