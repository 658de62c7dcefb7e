// Values to bits and back, and values packed together where their bits are
// set. Included once for every SIMD target.

#if defined(CAFFE_COMPRESS_SPARSE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_COMPRESS_SPARSE_INL_HPP_
#undef CAFFE_COMPRESS_SPARSE_INL_HPP_
#else
#define CAFFE_COMPRESS_SPARSE_INL_HPP_
#endif

#include "compress/sparse.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Eight values at most, so that a table of 256 entries has all patterns.
using DF = hn::CappedTag<float, 8>;
using DU = hn::Rebind<uint32_t, DF>;

// The bits of 64 values; `test` makes a mask of a vector.
template <class Test>
HWY_INLINE uint64_t BitsOf64(const float* values, const Test& test) {
  const DF df;
  const size_t lanes = hn::Lanes(df);
  uint64_t word = 0;
  for (size_t i = 0; i < kWordValues; i += lanes) {
    uint8_t bits[8] = {};
    hn::StoreMaskBits(df, test(hn::LoadU(df, values + i)), bits);
    word |= uint64_t{bits[0]} << i;
  }
  return word;
}

HWY_INLINE uint64_t NonZeros64(const float* values) {
  return BitsOf64(values, [](hn::Vec<DF> v) {
    const DU du;
    return hn::RebindMask(DF(), hn::Ne(hn::BitCast(du, v), hn::Zero(du)));
  });
}

HWY_INLINE hn::Mask<DF> MaskOf(uint64_t word, size_t at) {
  const uint8_t bits[8] = {static_cast<uint8_t>(word >> at)};
  return hn::LoadMaskBits(DF(), bits);
}

// Writes those of 64 values whose bits are set one after the other, and maybe
// something behind them; returns where they end.
HWY_INLINE uint8_t* Pack64(const float* values, uint64_t word, uint8_t* to) {
  const DF df;
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < kWordValues; i += lanes) {
    const size_t count =
        hn::CompressStore(hn::LoadU(df, values + i), MaskOf(word, i), df,
                          reinterpret_cast<float*>(to));
    to += count * sizeof(float);
  }
  return to;
}

// The reverse: 64 values from those at `from`, behind which kUnpackSlack bytes
// may be read.
HWY_INLINE const uint8_t* Unpack64(const uint8_t* from, uint64_t word,
                                   float* values) {
  const DF df;
  const DU du;
  const hn::Rebind<uint8_t, DF> d8;
  const size_t lanes = hn::Lanes(df);
  for (size_t i = 0; i < kWordValues; i += lanes) {
    const uint64_t bits = word >> i & ((1u << lanes) - 1);
    const auto packed = hn::LoadU(df, reinterpret_cast<const float*>(from));
    const auto ranks = hn::PromoteTo(du, hn::LoadU(d8, kRanks.of[bits]));
    const auto spread =
        hn::TableLookupLanes(packed, hn::IndicesFromVec(df, ranks));
    hn::StoreU(hn::IfThenElseZero(MaskOf(word, i), spread), df, values + i);
    from += std::popcount(bits) * sizeof(float);
  }
  return from;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
