// Values to tokens and back. Included once for every SIMD target.

#if defined(CAFFE_SZ_QUANTIZE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_QUANTIZE_INL_HPP_
#undef CAFFE_SZ_QUANTIZE_INL_HPP_
#else
#define CAFFE_SZ_QUANTIZE_INL_HPP_
#endif

#include "compress/sz/dither.hpp"
#include "compress/sz/kernels.hpp"
#include "compress/sz/plain_quantize.hpp"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kDitherSpan>;
using DI = hn::Rebind<int32_t, DF>;
using DU = hn::Rebind<uint32_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// Values are worked on in pieces, which is also how often it is asked whether
// all of them are within the bound.
constexpr size_t kPiece = 2 * kDitherSpan;
constexpr size_t kPieceVectors = kPiece / hn::MaxLanes(DF());
static_assert(kPieceVectors * hn::MaxLanes(DF()) == kPiece);

struct HashOffsets {
  constexpr HashOffsets() {
    for (uint32_t i = 0; i < kDitherSpan; ++i) offset[i] = i * kDitherStep;
  }
  alignas(64) uint32_t offset[kDitherSpan] = {};
};
constexpr HashOffsets kHashOffsets;

// The dither of a piece that starts at `position`, in units of a code.
HWY_INLINE void PieceDither(uint32_t seed, uint64_t position, VF* dither) {
  const DF df;
  const DI di;
  const DU du;
  const auto first = hn::Set(du, FirstHash(position) * kDitherStep + seed);
  const VI one = hn::Set(di, 1);
  const VF scale = hn::Set(df, kDitherScale);
  for (size_t v = 0; v < kPieceVectors / 2; ++v) {
    auto h =
        hn::Add(first, hn::Load(du, kHashOffsets.offset + v * hn::Lanes(du)));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, kDitherMix1));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), hn::Set(du, kDitherMix2));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    // 2 * half + 1.
    const VI both = hn::BitCast(di, h);
    const VI lower = hn::Or(hn::ShiftRight<15>(hn::ShiftLeft<16>(both)), one);
    const VI upper = hn::Or(hn::ShiftRight<15>(both), one);
    dither[v] = hn::Mul(hn::ConvertTo(df, lower), scale);
    dither[v + kPieceVectors / 2] = hn::Mul(hn::ConvertTo(df, upper), scale);
  }
}

// Added to a number below 2^22, it leaves no room for a fraction: what comes
// out is rounded to the nearest integer, which is in its low bits. Anything
// else comes out with a difference in bits far beyond a token's.
constexpr float kRoundingShift = 3 << 22;

// Bytes of a piece from its vectors of numbers; what is too large for a byte
// becomes the largest.
HWY_INLINE void StoreBytes(const VI* numbers, int8_t* to) {
#if HWY_TARGET == HWY_AVX2
  // Four vectors at once take half as many steps as each on its own.
  const __m256i low = _mm256_packs_epi32(numbers[0].raw, numbers[1].raw);
  const __m256i high = _mm256_packs_epi32(numbers[2].raw, numbers[3].raw);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(to),
      _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
#else
  const hn::Rebind<int8_t, DI> d8;
  for (size_t v = 0; v < kPieceVectors; ++v) {
    hn::StoreU(hn::DemoteTo(d8, numbers[v]), d8, to + v * hn::Lanes(d8));
  }
#endif
}

// Whether no byte of a piece of tokens is too large for one.
HWY_INLINE bool AllTokens(const int8_t* tokens) {
  const hn::CappedTag<int8_t, kPiece> d;
  const auto largest = hn::Set(d, int8_t{kMaxToken});
  const auto least = hn::Set(d, int8_t{-kMaxToken});
  bool good = true;
  for (size_t i = 0; i < kPiece; i += hn::Lanes(d)) {
    const auto t = hn::LoadU(d, tokens + i);
    good &= hn::AllTrue(d, hn::Eq(hn::Min(hn::Max(t, least), largest), t));
  }
  return good;
}

// What stays the same over a block, and what is done to a piece of it.
template <bool kDithered>
class PieceQuantizer {
 public:
  explicit PieceQuantizer(const Quantizer& quantizer)
      : steps_(StepsOf<float>(quantizer.bound)),
        seed_(quantizer.seed),
        low_bits_(quantizer.low_bits) {}

  // Tokens, and low bits if there are any. Returns whether no value must be
  // kept raw; otherwise, what was stored has no meaning.
  template <bool kHasLow>
  HWY_INLINE bool Quantize(const float* values, uint64_t position,
                           int8_t* tokens, uint16_t* low) const {
    const DF df;
    const DI di;
    VF dither[kPieceVectors];
    if (kDithered) PieceDither(seed_, position, dither);
    VI code[kPieceVectors];
    const VF shift = hn::Set(df, kRoundingShift);
    VF largest = hn::Zero(df);
    for (size_t v = 0; v < kPieceVectors; ++v) {
      const VF x = hn::LoadU(df, values + v * hn::Lanes(df));
      VF scaled = hn::Mul(x, hn::Set(df, steps_.inverse));
      if (kDithered) scaled = hn::Add(scaled, dither[v]);
      const VF shifted = hn::Add(scaled, shift);
      code[v] = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, shift));
      // What the decoder will make of it decides, not what ought to come out.
      VF decoded = hn::Sub(shifted, shift);
      if (kDithered) decoded = hn::Sub(decoded, dither[v]);
      decoded = hn::Mul(decoded, hn::Set(df, steps_.step));
      largest = hn::Max(largest, hn::Abs(hn::Sub(x, decoded)));
    }
    // Rounding cannot make an error above the bound look like one below it,
    // but it can make one look like the bound itself; only the differences of
    // plain rounding are exact. What is not a number gets lost here, but its
    // code is far too large.
    const VF bound = hn::Set(df, steps_.bound);
    const bool within = hn::AllTrue(
        df, kDithered ? hn::Lt(largest, bound) : hn::Le(largest, bound));
    if (kHasLow) {
      SplitCodes(code, low);
    } else if (kDithered) {
      // 0 and what is above move up by one, to make room for the zero.
      for (VI& c : code) {
        c = hn::Sub(c, hn::VecFromMask(di, hn::Gt(c, hn::Set(di, -1))));
      }
    }
    if (kDithered) ClearZeros(values, code);
    StoreBytes(code, tokens);
    return within && AllTokens(tokens);
  }

  // The values of tokens with their low bits.
  template <bool kHasLow>
  HWY_INLINE void Dequantize(const int8_t* tokens, const uint16_t* low,
                             uint64_t position, float* values) const {
    const DF df;
    const DI di;
    const hn::Rebind<int8_t, DI> d8;
    const hn::Rebind<uint16_t, DI> d16;
    const VI zero = hn::Zero(di);
    const VI one = hn::Set(di, 1);
    VF dither[kPieceVectors];
    if (kDithered) PieceDither(seed_, position, dither);
    for (size_t v = 0; v < kPieceVectors; ++v) {
      const size_t at = v * hn::Lanes(df);
      const VI token = hn::PromoteTo(di, hn::LoadU(d8, tokens + at));
      VI code = token;
      if (kHasLow) {
        const VI size =
            hn::Or(hn::ShiftLeftSame(hn::Sub(hn::Abs(token), one), low_bits_),
                   hn::PromoteTo(di, hn::LoadU(d16, low + at)));
        const VI sign = hn::ShiftRight<31>(token);
        code = kDithered ? hn::Xor(size, sign)
                         : hn::Sub(hn::Xor(hn::Add(size, one), sign), sign);
      } else if (kDithered) {
        code = hn::Add(token, hn::VecFromMask(di, hn::Gt(token, zero)));
      }
      VF value = hn::ConvertTo(df, code);
      if (kDithered) value = hn::Sub(value, dither[v]);
      value = hn::Mul(value, hn::Set(df, steps_.step));
      if (kDithered || kHasLow) {
        const VI is_zero = hn::VecFromMask(di, hn::Eq(token, zero));
        value = hn::AndNot(hn::BitCast(df, is_zero), value);
      }
      hn::StoreU(value, df, values + at);
    }
  }

 private:
  // Codes to tokens and low bits.
  HWY_INLINE void SplitCodes(VI* code, uint16_t* low) const {
    const DI di;
    const hn::Rebind<uint16_t, DI> d16;
    const VI one = hn::Set(di, 1);
    const VI low_mask = hn::Set(di, (1 << low_bits_) - 1);
    for (size_t v = 0; v < kPieceVectors; ++v) {
      const VI sign = hn::ShiftRight<31>(code[v]);
      const VI size = kDithered
                          ? hn::Xor(code[v], sign)
                          : hn::Sub(hn::Sub(hn::Xor(code[v], sign), sign), one);
      hn::StoreU(hn::DemoteTo(d16, hn::And(size, low_mask)), d16,
                 low + v * hn::Lanes(di));
      // The opposite of the least integer is itself, and stays too large.
      const VI kept = hn::Add(hn::ShiftRightSame(size, low_bits_), one);
      code[v] = hn::Sub(hn::Xor(kept, sign), sign);
    }
  }

  HWY_INLINE void ClearZeros(const float* values, VI* token) const {
    const DF df;
    const DI di;
    for (size_t v = 0; v < kPieceVectors; ++v) {
      const VF x = hn::LoadU(df, values + v * hn::Lanes(df));
      const auto is_zero = hn::VecFromMask(df, hn::Eq(x, hn::Zero(df)));
      token[v] = hn::AndNot(hn::BitCast(di, is_zero), token[v]);
    }
  }

  const Steps<float> steps_;
  const uint32_t seed_;
  const int low_bits_;
};

template <bool kDithered, bool kHasLow>
size_t QuantizeBlock(const Quantizer& quantizer, const float* values, size_t n,
                     uint64_t position, int8_t* tokens, uint16_t* low,
                     uint32_t* raw) {
  const PieceQuantizer<kDithered> q(quantizer);
  size_t raws = 0;
  for (size_t i = 0; i < n; i += kPiece) {
    const bool whole = i + kPiece <= n;
    if (HWY_LIKELY(whole && q.template Quantize<kHasLow>(
                                values + i, position + i, tokens + i,
                                kHasLow ? low + i : nullptr))) {
      continue;
    }
    // The plain way says which values must be kept raw.
    const size_t found =
        PlainQuantize(quantizer, values + i, whole ? kPiece : n - i,
                      position + i, tokens + i, low + i, raw + raws);
    for (size_t k = 0; k < found; ++k) raw[raws++] += static_cast<uint32_t>(i);
  }
  return raws;
}

size_t QuantizeFloat(const Quantizer& quantizer, const float* values, size_t n,
                     uint64_t position, int8_t* tokens, uint16_t* low,
                     uint32_t* raw) {
  const bool dithered = quantizer.rounding == Rounding::kDither;
  const bool has_low = quantizer.low_bits > 0;
  const auto run =
      dithered
          ? (has_low ? QuantizeBlock<true, true> : QuantizeBlock<true, false>)
          : (has_low ? QuantizeBlock<false, true>
                     : QuantizeBlock<false, false>);
  return run(quantizer, values, n, position, tokens, low, raw);
}

template <bool kDithered, bool kHasLow>
void DequantizeBlock(const Quantizer& quantizer, const int8_t* tokens,
                     const uint16_t* low, size_t n, uint64_t position,
                     float* values) {
  const PieceQuantizer<kDithered> q(quantizer);
  size_t i = 0;
  for (; i + kPiece <= n; i += kPiece) {
    q.template Dequantize<kHasLow>(tokens + i, kHasLow ? low + i : nullptr,
                                   position + i, values + i);
  }
  PlainDequantize(quantizer, tokens + i, low + i, n - i, position + i,
                  values + i);
}

void DequantizeFloat(const Quantizer& quantizer, const int8_t* tokens,
                     const uint16_t* low, size_t n, uint64_t position,
                     float* values) {
  const bool dithered = quantizer.rounding == Rounding::kDither;
  const bool has_low = quantizer.low_bits > 0;
  const auto run = dithered ? (has_low ? DequantizeBlock<true, true>
                                       : DequantizeBlock<true, false>)
                            : (has_low ? DequantizeBlock<false, true>
                                       : DequantizeBlock<false, false>);
  run(quantizer, tokens, low, n, position, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
