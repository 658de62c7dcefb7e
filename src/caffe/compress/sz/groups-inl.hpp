// Groups of tokens in as few bits as the largest needs. Included once for every
// SIMD target.

#if defined(CAFFE_SZ_GROUPS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_GROUPS_INL_HPP_
#undef CAFFE_SZ_GROUPS_INL_HPP_
#else
#define CAFFE_SZ_GROUPS_INL_HPP_
#endif

#include <cstring>

#include "compress/sz/groups.hpp"
#include "compress/sz/kernels.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using GroupD = hn::FixedTag<uint8_t, kGroup>;

// Of a group by its code. Also where parts begin: that of 2 bits after
// bytes & 8, that of 1 bit after bytes & 12.
struct GroupLengths {
  constexpr GroupLengths() {
    for (int code = 0; code < 16; ++code) {
      bytes[code] = static_cast<uint8_t>(GroupBytes(code));
    }
  }
  alignas(16) uint8_t bytes[16] = {};
};
constexpr GroupLengths kGroupLengths;

// FoldToken of all tokens put together, for kCount groups, every other one from
// `tokens` on. A vector has the kCount results again and again, each time for
// other tokens of the groups; 16 results are those of all tokens.
template <size_t kCount>
HWY_INLINE hn::Vec<GroupD> FoldGroups(const int8_t* tokens) {
  const GroupD d;
  if constexpr (kCount == 1) {
    const hn::RebindToSigned<GroupD> di;
    const auto token = hn::LoadU(di, tokens);
    const auto sign = hn::BroadcastSignBit(token);
    return hn::BitCast(d,
                       hn::Xor(token, hn::And(sign, hn::Set(di, int8_t{127}))));
  } else {
    constexpr size_t kHalf = kCount / 2;
    const hn::Repartition<hwy::UnsignedFromSize<kHalf>, GroupD> wide;
    const auto first = hn::BitCast(wide, FoldGroups<kHalf>(tokens));
    const auto second =
        hn::BitCast(wide, FoldGroups<kHalf>(tokens + kHalf * 2 * kGroup));
    return hn::BitCast(d, hn::Or(hn::InterleaveLower(wide, first, second),
                                 hn::InterleaveUpper(wide, first, second)));
  }
}

// GroupCode of every byte.
HWY_INLINE hn::Vec<GroupD> CodesOf(hn::Vec<GroupD> folded) {
  const GroupD d;
  alignas(16) static constexpr uint8_t kLower[16] = {0, 1, 2, 2, 3, 3, 3, 3,
                                                     4, 4, 4, 4, 4, 4, 4, 4};
  alignas(16) static constexpr uint8_t kUpper[16] = {
      0, 5, 6, 6, 7, 7, 7, 7, 8, 13, 14, 14, 15, 15, 15, 15};
  const auto upper = hn::ShiftRight<4>(folded);
  const auto sign = hn::And(upper, hn::Set(d, uint8_t{kSignedCode}));
  const auto lower = hn::And(folded, hn::Set(d, uint8_t{15}));
  return hn::Max(hn::Or(hn::TableLookupBytes(hn::Load(d, kLower), lower), sign),
                 hn::TableLookupBytes(hn::Load(d, kUpper), upper));
}

// Headers that fill a vector, and their tokens.
constexpr size_t kHeadersAtOnce = 16;
constexpr size_t kTokensAtOnce = kHeadersAtOnce * 2 * kGroup;

HWY_INLINE void WriteHeaders(const int8_t* tokens, uint8_t* headers) {
  const GroupD d;
  const auto first = CodesOf(FoldGroups<kHeadersAtOnce>(tokens));
  const auto second = CodesOf(FoldGroups<kHeadersAtOnce>(tokens + kGroup));
  hn::StoreU(hn::Or(first, hn::ShiftLeft<4>(second)), d, headers);
}

// Writes the bits of a group and returns where they end. Parts are written one
// after the other, each over what one that is not there has left behind.
HWY_INLINE uint8_t* PackGroup(int code, const int8_t* tokens, uint8_t* to) {
  const GroupD d;
  const hn::RebindToSigned<GroupD> di;
  const size_t bytes = kGroupLengths.bytes[code];
  uint64_t low, high;
  std::memcpy(&low, tokens, 8);
  std::memcpy(&high, tokens + 8, 8);
  constexpr uint64_t kFour = 0x0F0F0F0F0F0F0F0F;
  const uint64_t fours = (low & kFour) | (high & kFour) << 4;
  std::memcpy(to, &fours, 8);
  constexpr uint64_t kTwo = 0x0303030303030303;
  const int shift = static_cast<int>(bytes >> 1 & 4);
  uint64_t twos = (low >> shift & kTwo) | (high >> shift & kTwo) << 4;
  twos |= twos >> 30;
  std::memcpy(to + (bytes & 8), &twos, 4);
  const auto place = hn::Load(d, kGroupTables[code].one_place.data());
  const auto token = hn::BitCast(d, hn::LoadU(di, tokens));
  hn::StoreMaskBits(d, hn::TestBit(token, place), to + (bytes & 12));
  if (HWY_UNLIKELY(code == kWholeBytes)) std::memcpy(to, tokens, kGroup);
  return to + bytes;
}

// Packs kTokensAtOnce tokens, or those of the first `count` headers of them.
HWY_INLINE uint8_t* PackSome(const int8_t* tokens, size_t count,
                             uint8_t* headers, uint8_t* to) {
  WriteHeaders(tokens, headers);
  for (size_t i = 0; i < count; ++i) {
    to = PackGroup(headers[i] & 15, tokens + i * 2 * kGroup, to);
    to = PackGroup(headers[i] >> 4, tokens + i * 2 * kGroup + kGroup, to);
  }
  return to;
}

size_t PackGroups(const int8_t* tokens, size_t n, uint8_t* headers,
                  uint8_t* bits) {
  uint8_t* to = bits;
  size_t at = 0;
  for (; at + kTokensAtOnce <= n; at += kTokensAtOnce) {
    to = PackSome(tokens + at, kHeadersAtOnce, headers, to);
    headers += kHeadersAtOnce;
  }
  if (at < n) {
    int8_t last[kTokensAtOnce] = {};
    std::memcpy(last, tokens + at, n - at);
    to = PackSome(last, (n - at + 2 * kGroup - 1) / (2 * kGroup), headers, to);
  }
  std::memset(to, 0, kBitPadding);
  return to + kBitPadding - bits;
}

size_t BytesOfGroups(const uint8_t* headers, size_t count) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const uint8_t* const lengths = kGroupLengths.bytes;
  const auto table = hn::LoadDup128(d, lengths);
  const auto lower = hn::Set(d, uint8_t{15});
  auto sums = hn::Zero(d64);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto pairs = hn::LoadU(d, headers + i);
    const auto bytes =
        hn::Add(hn::TableLookupBytes(table, hn::And(pairs, lower)),
                hn::TableLookupBytes(table, hn::ShiftRight<4>(pairs)));
    sums = hn::Add(sums, hn::SumsOf8(bytes));
  }
  size_t sum = hn::GetLane(hn::SumOfLanes(d64, sums)) + kBitPadding;
  for (; i < count; ++i) {
    sum += lengths[headers[i] & 15] + lengths[headers[i] >> 4];
  }
  return sum;
}

// Without loops or branches that could be mispredicted: all parts are
// read, and the tables make nothing of those that are not there.
HWY_INLINE const uint8_t* UnpackGroup(int code, const uint8_t* from,
                                      int8_t* tokens) {
  const GroupD d;
  const hn::RebindToSigned<GroupD> di;
  const hn::Repartition<uint64_t, GroupD> d64;
  const hn::Repartition<uint32_t, GroupD> d32;
  alignas(16) static constexpr uint64_t kFourShifts[2] = {0, 4};
  alignas(16) static constexpr uint32_t kTwoShifts[4] = {0, 2, 4, 6};
  alignas(16) static constexpr uint8_t kByteOfBit[16] = {
      0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  const GroupTable& table = kGroupTables[code];
  const size_t bytes = kGroupLengths.bytes[code];
  uint64_t four_bits;
  uint32_t two_bits, one_bits;
  std::memcpy(&four_bits, from, 8);
  std::memcpy(&two_bits, from + (bytes & 8), 4);
  std::memcpy(&one_bits, from + (bytes & 12), 4);
  const auto fours = hn::BitCast(
      d, hn::Shr(hn::Set(d64, four_bits), hn::Load(d64, kFourShifts)));
  const auto four = hn::TableLookupBytes(
      hn::Load(d, table.four.data()), hn::And(fours, hn::Set(d, uint8_t{15})));
  const auto twos = hn::BitCast(
      d, hn::Shr(hn::Set(d32, two_bits), hn::Load(d32, kTwoShifts)));
  const auto two = hn::TableLookupBytes(hn::Load(d, table.two.data()),
                                        hn::And(twos, hn::Set(d, uint8_t{3})));
  const auto ones = hn::TableLookupBytes(hn::BitCast(d, hn::Set(d32, one_bits)),
                                         hn::Load(d, kByteOfBit));
  const auto place = hn::BitCast(d, hn::Set(d64, 0x8040201008040201));
  const auto one = hn::And(hn::VecFromMask(d, hn::TestBit(ones, place)),
                           hn::Load(d, table.one.data()));
  hn::StoreU(hn::BitCast(di, hn::Add(hn::Add(four, two), one)), di, tokens);
  if (HWY_UNLIKELY(code == kWholeBytes)) std::memcpy(tokens, from, kGroup);
  return from + bytes;
}

void UnpackGroups(GroupReader* reader, size_t n, int8_t* tokens) {
  const uint8_t* headers = reader->headers;
  const uint8_t* from = reader->bits;
  for (size_t at = 0; at < n; at += 2 * kGroup) {
    const int codes = *headers++;
    from = UnpackGroup(codes & 15, from, tokens + at);
    from = UnpackGroup(codes >> 4, from, tokens + at + kGroup);
  }
  *reader = {headers, from};
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
