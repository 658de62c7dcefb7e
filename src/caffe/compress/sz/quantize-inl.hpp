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

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The dither of values position + 0, 1, ..., in units of a code.
template <class D32, class DF>
HWY_INLINE hn::Vec<DF> Dither(D32 d, DF df, uint32_t seed, uint32_t position) {
  using hn::Set;
  const auto counter = hn::Iota(d, position);
  auto h = hn::Add(hn::Mul(counter, Set(d, kDitherStep)), Set(d, seed));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), Set(d, kDitherMix1));
  h = hn::Mul(hn::Xor(h, hn::ShiftRight<13>(h)), Set(d, kDitherMix2));
  h = hn::Xor(h, hn::ShiftRight<16>(h));
  // An odd number of 24 bits: never exactly between two codes.
  const hn::Rebind<int32_t, D32> di;
  const auto odd = hn::Sub(
      hn::BitCast(di,
                  hn::Or(hn::ShiftLeft<1>(hn::ShiftRight<9>(h)), Set(d, 1u))),
      Set(di, 1 << 23));
  return hn::Mul(hn::ConvertTo(df, odd), Set(df, kDitherScale));
}

// What stays the same over a block, and the code of one vector of values.
template <bool kDithered>
class VectorQuantizer {
 public:
  using DF = hn::CappedTag<float, 16>;
  using DI = hn::Rebind<int32_t, DF>;
  using DU = hn::Rebind<uint32_t, DF>;
  using VF = hn::Vec<DF>;
  using VI = hn::Vec<DI>;

  explicit VectorQuantizer(const Quantizer& quantizer)
      : steps_(StepsOf<float>(quantizer.bound)),
        seed_(quantizer.seed),
        low_bits_(quantizer.low_bits) {}

  // Tokens and magnitudes of `x`; `miss` is not 0 in lanes that must be kept
  // raw.
  template <bool kHasLow>
  HWY_INLINE void Quantize(VF x, uint32_t position, VI* token, VI* magnitude,
                           VI* miss) const {
    const DF df;
    const DI di;
    VF scaled = hn::Mul(x, hn::Set(df, steps_.inverse));
    VF dither = hn::Zero(df);
    if (kDithered) {
      dither = sz::HWY_NAMESPACE::Dither(DU(), df, seed_, position);
      scaled = hn::Add(scaled, dither);
    }
    // The least integer has no opposite to compare with the largest token.
    const VI code = hn::Max(hn::NearestInt(scaled), hn::Set(di, -0x7FFFFFFF));
    // What the decoder will make of it decides, not what ought to come out.
    VF decoded = hn::ConvertTo(df, code);
    if (kDithered) decoded = hn::Sub(decoded, dither);
    decoded = hn::Mul(decoded, hn::Set(df, steps_.step));
    const VF error = hn::Abs(hn::Sub(x, decoded));
    const VF bound = hn::Set(df, steps_.bound);
    // Rounding cannot make an error above the bound look like one below it,
    // but it can make one look like the bound itself; only the differences of
    // plain rounding are exact.
    const auto within = kDithered ? hn::Lt(error, bound) : hn::Le(error, bound);
    const VI outside = hn::BitCast(di, hn::VecFromMask(df, hn::Not(within)));
    if (!kDithered && !kHasLow) {
      const VI too_large =
          hn::VecFromMask(di, hn::Gt(hn::Abs(code), hn::Set(di, kMaxToken)));
      *token = code;
      *miss = hn::Or(outside, too_large);
      return;
    }
    VI size;
    if (kDithered) {
      size = hn::Xor(code, hn::ShiftRight<31>(code));
    } else {
      size = hn::Sub(hn::Abs(code), hn::Set(di, 1));
    }
    const VI kept =
        hn::Add(hn::ShiftRightSame(size, low_bits_), hn::Set(di, 1));
    *miss = hn::Or(outside,
                   hn::VecFromMask(di, hn::Gt(kept, hn::Set(di, kMaxToken))));
    // Negates where the code is negative.
    const VI sign = hn::ShiftRight<31>(code);
    *token = hn::Sub(hn::Xor(kept, sign), sign);
    *magnitude = size;
    if (kDithered) {
      const VI is_zero =
          hn::BitCast(di, hn::VecFromMask(df, hn::Eq(x, hn::Zero(df))));
      *miss = hn::AndNot(is_zero, *miss);
      *token = hn::AndNot(is_zero, *token);
    }
  }

  // The values of tokens with their low bits.
  HWY_INLINE VF Dequantize(VI token, VI low, uint32_t position) const {
    const DF df;
    const DI di;
    const VI zero = hn::Zero(di);
    const VI one = hn::Set(di, 1);
    const auto negative = hn::Lt(token, zero);
    VI code = token;
    if (kDithered || low_bits_ > 0) {
      const VI size = hn::Or(
          hn::ShiftLeftSame(hn::Sub(hn::Abs(token), one), low_bits_), low);
      if (kDithered) {
        code = hn::IfThenElse(negative, hn::Not(size), size);
      } else {
        const VI kept = hn::Add(size, one);
        code = hn::IfThenElse(negative, hn::Neg(kept), kept);
      }
    }
    VF value = hn::ConvertTo(df, code);
    if (kDithered) {
      value =
          hn::Sub(value, sz::HWY_NAMESPACE::Dither(DU(), df, seed_, position));
    }
    value = hn::Mul(value, hn::Set(df, steps_.step));
    if (kDithered || low_bits_ > 0) {
      const auto is_zero = hn::MaskFromVec(
          hn::BitCast(df, hn::VecFromMask(di, hn::Eq(token, zero))));
      value = hn::IfThenZeroElse(is_zero, value);
    }
    return value;
  }

  int low_bits() const { return low_bits_; }

 private:
  const Steps<float> steps_;
  const uint32_t seed_;
  const int low_bits_;
};

// How many values are quantised before it is asked whether all of them are
// within the bound.
constexpr size_t kPiece = 32;

// Quantises kPiece values. Returns whether none of them must be kept raw.
template <bool kDithered, bool kHasLow>
HWY_INLINE bool QuantizePiece(const VectorQuantizer<kDithered>& q,
                              const float* values, uint64_t position,
                              int8_t* tokens, uint16_t* low) {
  using Q = VectorQuantizer<kDithered>;
  const typename Q::DF df;
  const typename Q::DI di;
  const hn::Rebind<int8_t, typename Q::DI> d8;
  const hn::Rebind<uint16_t, typename Q::DI> d16;
  const auto low_mask = hn::Set(di, (1 << q.low_bits()) - 1);
  auto bad = hn::Zero(di);
  for (size_t i = 0; i < kPiece; i += hn::Lanes(df)) {
    typename Q::VI token, magnitude, miss;
    q.template Quantize<kHasLow>(hn::LoadU(df, values + i),
                                 static_cast<uint32_t>(position + i), &token,
                                 &magnitude, &miss);
    bad = hn::Or(bad, miss);
    hn::StoreU(hn::DemoteTo(d8, token), d8, tokens + i);
    if (kHasLow) {
      hn::StoreU(hn::DemoteTo(d16, hn::And(magnitude, low_mask)), d16, low + i);
    }
  }
  return hn::AllTrue(di, hn::Eq(bad, hn::Zero(di)));
}

template <bool kDithered, bool kHasLow>
size_t QuantizeBlock(const Quantizer& quantizer, const float* values, size_t n,
                     uint64_t position, int8_t* tokens, uint16_t* low,
                     uint32_t* raw) {
  const VectorQuantizer<kDithered> q(quantizer);
  size_t raws = 0;
  float last_values[kPiece] = {};
  int8_t last_tokens[kPiece];
  uint16_t last_low[kPiece];
  for (size_t i = 0; i < n; i += kPiece) {
    const bool whole = i + kPiece <= n;
    const size_t count = whole ? kPiece : n - i;
    if (!whole) std::copy_n(values + i, count, last_values);
    int8_t* const to = whole ? tokens + i : last_tokens;
    uint16_t* const low_to = whole ? low + i : last_low;
    const bool good = QuantizePiece<kDithered, kHasLow>(
        q, whole ? values + i : last_values, position + i, to, low_to);
    if (HWY_UNLIKELY(!good)) {
      // The plain way says which values they are.
      const size_t found = PlainQuantize(quantizer, values + i, count,
                                         position + i, to, low_to, raw + raws);
      for (size_t k = 0; k < found; ++k) {
        raw[raws++] += static_cast<uint32_t>(i);
      }
    }
    if (!whole) {
      std::copy_n(last_tokens, count, tokens + i);
      if (kHasLow) std::copy_n(last_low, count, low + i);
    }
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
  using Q = VectorQuantizer<kDithered>;
  const Q q(quantizer);
  const typename Q::DF df;
  const typename Q::DI di;
  const hn::Rebind<int8_t, typename Q::DI> d8;
  const hn::Rebind<uint16_t, typename Q::DI> d16;
  const size_t lanes = hn::Lanes(df);
  const auto dequantize = [&](const int8_t* t, const uint16_t* l, size_t i) {
    const auto low_part =
        kHasLow ? hn::PromoteTo(di, hn::LoadU(d16, l)) : hn::Zero(di);
    return q.Dequantize(hn::PromoteTo(di, hn::LoadU(d8, t)), low_part,
                        static_cast<uint32_t>(position + i));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(dequantize(tokens + i, kHasLow ? low + i : nullptr, i), df,
               values + i);
  }
  if (i == n) return;
  int8_t last_tokens[16] = {};
  uint16_t last_low[16] = {};
  float last_values[16];
  for (size_t k = 0; i + k < n; ++k) {
    last_tokens[k] = tokens[i + k];
    if (kHasLow) last_low[k] = low[i + k];
  }
  hn::StoreU(dequantize(last_tokens, last_low, i), df, last_values);
  for (size_t k = 0; i + k < n; ++k) values[i + k] = last_values[k];
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
