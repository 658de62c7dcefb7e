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
  const hn::Repartition<uint16_t, PlaneD> d16;
  const auto pairs = hn::BitCast(d16, top);
  *largest = hn::GetLane(
      hn::MaxOfLanes(d16, hn::Max(hn::And(pairs, hn::Set(d16, uint16_t{0xFF})),
                                  hn::ShiftRight<8>(pairs))));
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

// All bits of those bytes of vector v of a group whose bit is set.
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

// group[i] = -group[i] where bit i is set: all bits flipped, less -1.
HWY_INLINE void NegateWhere(uint64_t bits, PlaneV* group) {
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    const PlaneV sign = BytesWhere(bits, v);
    group[v] = hn::Sub(hn::Xor(group[v], sign), sign);
  }
}

// What a group takes at most: signs, 6 low bits and kMaxSteps for each token.
constexpr uint64_t kMostBits = kGroup * (1 + 1 + 6 + kMaxSteps);

// Reads the tokens of a group of that many low planes and steps. Unless it is
// known that there are enough bits, they are counted.
template <bool kCounted>
HWY_INLINE bool UnpackPlanes(uint8_t header, int low, int steps, BitReader* in,
                             PlaneV* group) {
  const auto has = [&](int bits) { return !kCounted || in->Has(bits); };
  uint64_t present = ~uint64_t{0};
  if (header & kHasZeros) {
    if (!has(kGroup)) return false;
    present = in->GetLong(kGroup);
  }
  const int count = std::popcount(present);
  const bool has_signs = (header & kHasSigns) != 0;
  if (!has(count * (low + has_signs))) return false;
  const uint64_t negative =
      has_signs ? SpreadBits(in->GetLong(count), present) : 0;
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    group[v] = hn::And(BytesWhere(present, v), hn::Set(PlaneD(), uint8_t{1}));
  }
  for (int p = 0; p < low; ++p) {
    AddWhere(SpreadBits(in->GetLong(count), present),
             static_cast<uint8_t>(1 << p), group);
  }
  uint64_t asked = present;
  for (int s = 0; s < steps; ++s) {
    const int asked_count = std::popcount(asked);
    if (!has(asked_count)) return false;
    asked = SpreadBits(in->GetLong(asked_count), asked);
    AddWhere(asked, static_cast<uint8_t>(1 << low), group);
  }
  if (has_signs) NegateWhere(negative, group);
  return true;
}

// The same for a group whose header is not kAllZero. The most frequent kinds
// have code of their own: one jump instead of loops that end unforeseen.
HWY_INLINE bool UnpackGroup(uint8_t header, BitReader* in, PlaneV* group) {
  const int low = header & kAllZero;
  const int steps = header >> kStepsShift & kMaxSteps;
  if (HWY_UNLIKELY(in->left() < kMostBits)) {
    return UnpackPlanes<true>(header, low, steps, in, group);
  }
  switch (header & (kAllZero | kMaxSteps << kStepsShift)) {
    case 0 | 0 << kStepsShift:
      return UnpackPlanes<false>(header, 0, 0, in, group);
    case 0 | 1 << kStepsShift:
      return UnpackPlanes<false>(header, 0, 1, in, group);
    case 0 | 2 << kStepsShift:
      return UnpackPlanes<false>(header, 0, 2, in, group);
    case 0 | 3 << kStepsShift:
      return UnpackPlanes<false>(header, 0, 3, in, group);
    case 1 | 1 << kStepsShift:
      return UnpackPlanes<false>(header, 1, 1, in, group);
    case 1 | 2 << kStepsShift:
      return UnpackPlanes<false>(header, 1, 2, in, group);
    case 1 | 3 << kStepsShift:
      return UnpackPlanes<false>(header, 1, 3, in, group);
    case 2 | 2 << kStepsShift:
      return UnpackPlanes<false>(header, 2, 2, in, group);
    case 2 | 3 << kStepsShift:
      return UnpackPlanes<false>(header, 2, 3, in, group);
    default:
      return UnpackPlanes<false>(header, low, steps, in, group);
  }
}

// Reads the next group, of which at most `n` tokens may be written.
HWY_INLINE bool ReadGroup(const uint8_t** header, BitReader* in, size_t n,
                          int8_t* tokens) {
  const PlaneD d;
  const hn::RebindToSigned<PlaneD> di;
  PlaneV group[kPlaneVectors];
  const uint8_t kind = *(*header)++;
  if ((kind & kAllZero) == kAllZero) {
    for (PlaneV& v : group) v = hn::Zero(d);
  } else if (!UnpackGroup(kind, in, group)) {
    return false;
  }
  alignas(64) int8_t last[kGroup];
  int8_t* const to = HWY_LIKELY(n >= kGroup) ? tokens : last;
  for (size_t v = 0; v < kPlaneVectors; ++v) {
    hn::StoreU(hn::BitCast(di, group[v]), di, to + v * hn::Lanes(d));
  }
  if (HWY_UNLIKELY(n < kGroup)) std::memcpy(tokens, last, n);
  return true;
}

bool UnpackGroups(GroupReader* reader, size_t n, int8_t* tokens) {
  GroupReader in = *reader;
  for (size_t at = 0; at < n; at += kGroup) {
    if (!ReadGroup(&in.headers, &in.bits, n - at, tokens + at)) return false;
  }
  *reader = in;
  return true;
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

int8_t AccumulateLeft(int8_t before, size_t n, int8_t* tokens) {
  const hn::FixedTag<int8_t, 16> d;
  auto carry = hn::Set(d, before);
  const auto last = hn::Set(d, int8_t{15});
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    // Sums within 16 bytes by doubling steps.
    auto sum = hn::LoadU(d, tokens + i);
    sum = hn::Add(sum, hn::ShiftLeftBytes<1>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<2>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<4>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<8>(d, sum));
    // Only one addition waits for those before.
    hn::StoreU(hn::Add(sum, carry), d, tokens + i);
    carry = hn::Add(carry, hn::TableLookupBytes(sum, last));
  }
  int8_t sum = hn::GetLane(carry);
  for (; i < n; ++i) {
    sum = static_cast<int8_t>(sum + tokens[i]);
    tokens[i] = sum;
  }
  return sum;
}

// tokens[i] += tokens[i - distance], in vectors no longer than the distance:
// they must not reach into what they depend on.
template <size_t kLongest>
HWY_INLINE size_t AccumulateFrom(size_t first, size_t n, size_t distance,
                                 int8_t* tokens) {
  const hn::CappedTag<int8_t, kLongest> d;
  size_t i = first;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto from = hn::LoadU(d, tokens + i - distance);
    hn::StoreU(hn::Add(hn::LoadU(d, tokens + i), from), d, tokens + i);
  }
  return i;
}

// The same for a distance of one to two vectors, whose last row is kept in
// registers: a load that spans two stores would have to wait for both. Returns
// where less than a row is left.
template <size_t kLongest>
HWY_INLINE size_t AccumulateRows(size_t first, size_t n, size_t distance,
                                 int8_t* tokens) {
  const hn::CappedTag<int8_t, kLongest> d;
  const size_t lanes = hn::Lanes(d);
  if (distance < lanes || distance > 2 * lanes) return first;
  const size_t second = distance - lanes;
  size_t i = first;
  auto front = hn::LoadU(d, tokens + i - distance);
  auto back = hn::LoadU(d, tokens + i - lanes);
  for (; i + distance <= n; i += distance) {
    front = hn::Add(front, hn::LoadU(d, tokens + i));
    back = hn::Add(back, hn::LoadU(d, tokens + i + second));
    hn::StoreU(front, d, tokens + i);
    hn::StoreU(back, d, tokens + i + second);
  }
  return i;
}

void AccumulateAbove(size_t first, size_t n, size_t row, int8_t* tokens) {
  size_t i = std::max(first, row);
  if (i < n) {
    i = AccumulateRows<8>(i, n, row, tokens);
    i = AccumulateRows<16>(i, n, row, tokens);
    i = AccumulateRows<32>(i, n, row, tokens);
  }
  if (row >= 32) {
    i = AccumulateFrom<32>(i, n, row, tokens);
  } else if (row >= 16) {
    i = AccumulateFrom<16>(i, n, row, tokens);
  } else if (row >= 8) {
    i = AccumulateFrom<8>(i, n, row, tokens);
  }
  for (; i < n; ++i) {
    tokens[i] = static_cast<int8_t>(tokens[i] + tokens[i - row]);
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

bool UnpackLow(BitReader* reader, const int8_t* tokens, size_t n, int low_bits,
               uint16_t* low) {
  const PlaneD d;
  BitReader in = *reader;
  alignas(64) uint8_t bytes[kGroup];
  for (size_t at = 0; at < n; at += kGroup) {
    const size_t count = at + kGroup <= n ? kGroup : n - at;
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
