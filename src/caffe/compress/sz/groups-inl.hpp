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

// Where components of a group begin: that of 2 bits after bytes & 8, that of 1
// bit after bytes & 12.
struct GroupLengths {
  constexpr GroupLengths() {
    for (int code = 0; code < 16; ++code) {
      bytes[code] = static_cast<uint8_t>(GroupBytes(code));
    }
  }
  alignas(16) uint8_t bytes[16] = {};
};
constexpr GroupLengths kGroupLengths;

// Writes the bits of a group and returns its code.
HWY_INLINE int PackGroup(const int8_t* tokens, uint8_t** to) {
  const GroupD d;
  const hn::RebindToSigned<GroupD> di;
  uint64_t low, high;
  std::memcpy(&low, tokens, 8);
  std::memcpy(&high, tokens + 8, 8);

  // FoldToken of eight at once.
  const auto fold = [](uint64_t word) {
    const uint64_t signs = word & 0x8080808080808080;
    return word ^ (signs - (signs >> 7));
  };
  uint64_t all = fold(low) | fold(high);
  all |= all >> 32;
  all |= all >> 16;
  all |= all >> 8;
  const int code = GroupCode(static_cast<uint8_t>(all));
  const size_t bytes = kGroupLengths.bytes[code];
  uint8_t* const at = *to;
  *to += bytes;
  const auto token = hn::LoadU(di, tokens);
  if (HWY_UNLIKELY(code == kWholeBytes)) {
    hn::StoreU(hn::BitCast(d, token), d, at);
    return code;
  }

  // Components are written one after the other, each over what one that is not
  // there has left behind.
  constexpr uint64_t kFour = 0x0F0F0F0F0F0F0F0F;
  const uint64_t fours = (low & kFour) | (high & kFour) << 4;
  std::memcpy(at, &fours, 8);
  constexpr uint64_t kTwo = 0x0303030303030303;
  const int shift = static_cast<int>(bytes >> 1 & 4);
  uint64_t twos = (low >> shift & kTwo) | (high >> shift & kTwo) << 4;
  twos |= twos >> 30;
  std::memcpy(at + (bytes & 8), &twos, 4);
  const auto place = hn::Load(d, kGroupTables[code].one_place.data());
  hn::StoreMaskBits(d, hn::TestBit(hn::BitCast(d, token), place),
                    at + (bytes & 12));
  return code;
}

size_t PackGroups(const int8_t* tokens, size_t n, uint8_t* headers,
                  uint8_t* bits) {
  constexpr size_t kPair = 2 * kGroup;
  uint8_t* to = bits;
  const auto pack = [&](const int8_t* pair) HWY_ATTR {
    const int first = PackGroup(pair, &to);
    const int second = PackGroup(pair + kGroup, &to);
    *headers++ = static_cast<uint8_t>(first | second << 4);
  };
  size_t at = 0;
  for (; at + kPair <= n; at += kPair) pack(tokens + at);
  if (at < n) {
    int8_t last[kPair] = {};
    std::memcpy(last, tokens + at, n - at);
    pack(last);
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

// Without loops or branches that could be mispredicted: all components are
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
