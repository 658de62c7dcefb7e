#include "compress/jpeg/transform.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/jpeg/transform.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::jpeg {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// As much of a row as fits.
using DF = hn::CappedTag<float, kTile>;
using DI = hn::Rebind<int32_t, DF>;
using D16 = hn::Rebind<int16_t, DF>;
using V = hn::Vec<DF>;

// cos(k pi / 16) / 2.
constexpr float kCos1 = 0.490392640f;
constexpr float kCos2 = 0.461939766f;
constexpr float kCos3 = 0.415734806f;
constexpr float kCos4 = 0.353553391f;
constexpr float kCos5 = 0.277785117f;
constexpr float kCos6 = 0.191341716f;
constexpr float kCos7 = 0.0975451610f;

// Row k: the first half of wave k; the second half mirrors it, with the sign
// turned for odd k.
constexpr float kWave[kTile][kTile / 2] = {
    {kCos4, kCos4, kCos4, kCos4},   {kCos1, kCos3, kCos5, kCos7},
    {kCos2, kCos6, -kCos6, -kCos2}, {kCos3, -kCos7, -kCos1, -kCos5},
    {kCos4, -kCos4, -kCos4, kCos4}, {kCos5, -kCos1, kCos7, kCos3},
    {kCos6, -kCos2, kCos2, -kCos6}, {kCos7, -kCos5, kCos3, -kCos1}};

HWY_INLINE V Sum4(V a, float wa, V b, float wb, V c, float wc, V d, float wd) {
  const DF df;
  return hn::Add(
      hn::Add(hn::Mul(a, hn::Set(df, wa)), hn::Mul(b, hn::Set(df, wb))),
      hn::Add(hn::Mul(c, hn::Set(df, wc)), hn::Mul(d, hn::Set(df, wd))));
}

// Columns of values to columns of frequencies.
HWY_INLINE void ForwardColumns(V (&x)[kTile]) {
  V sum[kTile / 2];
  V difference[kTile / 2];
  for (int i = 0; i < kTile / 2; ++i) {
    sum[i] = hn::Add(x[i], x[kTile - 1 - i]);
    difference[i] = hn::Sub(x[i], x[kTile - 1 - i]);
  }
  for (int k = 0; k < kTile; ++k) {
    const V* const part = k % 2 == 0 ? sum : difference;
    const float* const w = kWave[k];
    x[k] = Sum4(part[0], w[0], part[1], w[1], part[2], w[2], part[3], w[3]);
  }
}

HWY_INLINE void InverseColumns(V (&x)[kTile]) {
  V even[kTile / 2];
  V odd[kTile / 2];
  for (int i = 0; i < kTile / 2; ++i) {
    even[i] = Sum4(x[0], kWave[0][i], x[2], kWave[2][i], x[4], kWave[4][i],
                   x[6], kWave[6][i]);
    odd[i] = Sum4(x[1], kWave[1][i], x[3], kWave[3][i], x[5], kWave[5][i], x[7],
                  kWave[7][i]);
  }
  for (int i = 0; i < kTile / 2; ++i) {
    x[i] = hn::Add(even[i], odd[i]);
    x[kTile - 1 - i] = hn::Sub(even[i], odd[i]);
  }
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void Transpose(const float* from, float* to) {
  for (int i = 0; i < kTileValues; ++i) {
    to[i % kTile * kTile + i / kTile] = from[i];
  }
}
#else
// Quarter by quarter.
HWY_INLINE void Transpose(const float* from, float* to) {
  const hn::FixedTag<float, 4> d;
  for (int row = 0; row < kTile; row += 4) {
    for (int column = 0; column < kTile; column += 4) {
      const float* const in = from + row * kTile + column;
      const auto a = hn::Load(d, in);
      const auto b = hn::Load(d, in + kTile);
      const auto c = hn::Load(d, in + 2 * kTile);
      const auto e = hn::Load(d, in + 3 * kTile);
      const auto ac_low = hn::InterleaveLower(d, a, c);
      const auto be_low = hn::InterleaveLower(d, b, e);
      const auto ac_high = hn::InterleaveUpper(d, a, c);
      const auto be_high = hn::InterleaveUpper(d, b, e);
      float* const out = to + column * kTile + row;
      hn::Store(hn::InterleaveLower(d, ac_low, be_low), d, out);
      hn::Store(hn::InterleaveUpper(d, ac_low, be_low), d, out + kTile);
      hn::Store(hn::InterleaveLower(d, ac_high, be_high), d, out + 2 * kTile);
      hn::Store(hn::InterleaveUpper(d, ac_high, be_high), d, out + 3 * kTile);
    }
  }
}
#endif

uint64_t Forward(const float* values, size_t stride, float scale,
                 const Steps& steps, int16_t* coefficients) {
  const DF df;
  HWY_ALIGN float tile[kTileValues];
  HWY_ALIGN float turned[kTileValues];
  V x[kTile];
  for (size_t c = 0; c < kTile; c += hn::Lanes(df)) {
    for (int r = 0; r < kTile; ++r) {
      x[r] =
          hn::Mul(hn::LoadU(df, values + r * stride + c), hn::Set(df, scale));
    }
    ForwardColumns(x);
    for (int r = 0; r < kTile; ++r) hn::Store(x[r], df, tile + r * kTile + c);
  }
  Transpose(tile, turned);
  uint64_t non_zero = 0;
  for (size_t c = 0; c < kTile; c += hn::Lanes(df)) {
    for (int r = 0; r < kTile; ++r) x[r] = hn::Load(df, turned + r * kTile + c);
    ForwardColumns(x);
    for (int r = 0; r < kTile; ++r) {
      const size_t at = r * kTile + c;
      const auto code =
          hn::NearestInt(hn::Mul(x[r], hn::LoadU(df, steps.inverse + at)));
      uint8_t bits[8] = {};
      hn::StoreMaskBits(DI(), hn::Ne(code, hn::Zero(DI())), bits);
      non_zero |= uint64_t{bits[0]} << at;
      hn::StoreU(hn::DemoteTo(D16(), code), D16(), coefficients + at);
    }
  }
  return non_zero;
}

void Inverse(const int16_t* coefficients, const Steps& steps, float scale,
             float* values, size_t stride) {
  const DF df;
  HWY_ALIGN float tile[kTileValues];
  HWY_ALIGN float turned[kTileValues];
  V x[kTile];
  for (size_t c = 0; c < kTile; c += hn::Lanes(df)) {
    for (int r = 0; r < kTile; ++r) {
      const size_t at = r * kTile + c;
      const auto code =
          hn::PromoteTo(DI(), hn::LoadU(D16(), coefficients + at));
      x[r] = hn::Mul(hn::ConvertTo(df, code), hn::LoadU(df, steps.step + at));
    }
    InverseColumns(x);
    for (int r = 0; r < kTile; ++r) hn::Store(x[r], df, tile + r * kTile + c);
  }
  Transpose(tile, turned);
  for (size_t c = 0; c < kTile; c += hn::Lanes(df)) {
    for (int r = 0; r < kTile; ++r) x[r] = hn::Load(df, turned + r * kTile + c);
    InverseColumns(x);
    for (int r = 0; r < kTile; ++r) {
      hn::StoreU(hn::Mul(x[r], hn::Set(df, scale)), df,
                 values + r * stride + c);
    }
  }
}

const Transform* TargetTransform() {
  static constexpr Transform transform = {.forward = Forward,
                                          .inverse = Inverse};
  return &transform;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec::jpeg {

HWY_EXPORT(TargetTransform);

const Transform& BestTransform() {
  return *HWY_DYNAMIC_DISPATCH(TargetTransform)();
}

}  // namespace caffe::codec::jpeg
#endif  // HWY_ONCE
