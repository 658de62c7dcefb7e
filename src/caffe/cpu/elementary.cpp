#include "cpu/elementary.hpp"

#include <algorithm>
#include <cmath>

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementary.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls function(tag, vector) for whole vectors and then single values.
template <typename Dtype, typename Function>
HWY_INLINE void Transform(int64_t n, const Dtype* in, Dtype* out,
                          const Function& function) {
  const hn::ScalableTag<Dtype> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(function(tag, hn::LoadU(tag, in + i)), tag, out + i);
  }
  const hn::CappedTag<Dtype, 1> single;
  for (; i < n; ++i) {
    hn::StoreU(function(single, hn::LoadU(single, in + i)), single, out + i);
  }
}

template <typename Dtype>
void Power(int64_t n, Dtype exponent, const Dtype* in, Dtype* out) {
  if (exponent == Dtype(0.75)) {
    // The usual case of local response normalization.
    Transform(n, in, out, [](auto tag, auto x) HWY_ATTR {
      const auto root = hn::Sqrt(x);
      return hn::Div(hn::Set(tag, Dtype(1)), hn::Mul(root, hn::Sqrt(root)));
    });
  } else {
    Transform(n, in, out, [exponent](auto tag, auto x) HWY_ATTR {
      const auto power =
          hn::Exp(tag, hn::Mul(hn::Set(tag, -exponent), hn::Log(tag, x)));
      // Log does not know zero, infinity and what has no logarithm.
      const auto other = hn::Div(hn::Set(tag, Dtype(1)), hn::Sqrt(x));
      return hn::IfThenElse(hn::And(hn::Gt(x, hn::Zero(tag)), hn::IsFinite(x)),
                            power, other);
    });
  }
}

// Highway's functions are right within limits only. These are so beyond.

// Limits x to where the exponential is infinite in any case.
template <class D, class V>
HWY_INLINE V LimitExponent(D tag, V x) {
  using T = hn::TFromD<D>;
  const V most = hn::Set(tag, sizeof(T) == sizeof(float) ? T(104) : T(720));
  return hn::IfThenElse(hn::Gt(x, most), most, x);
}

struct ExpOf {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(tag, LimitExponent(tag, x)));
  }
};

struct Expm1Of {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    return hn::Expm1(tag, LimitExponent(tag, x));
  }
};

struct LogOf {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    // Minus infinity for zero; infinity, and what has no logarithm, stay.
    const V one = hn::Set(tag, hn::TFromD<D>(1));
    const V root = hn::Sqrt(x);
    const V other = hn::Sub(root, hn::Div(one, hn::Abs(root)));
    return hn::IfThenElse(hn::And(hn::Gt(x, hn::Zero(tag)), hn::IsFinite(x)),
                          hn::Log(tag, x), other);
  }
};

struct SigmoidOf {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    const V one = hn::Set(tag, hn::TFromD<D>(1));
    return hn::Div(one, hn::Add(one, ExpOf()(tag, hn::Neg(x))));
  }
};

struct SoftplusOf {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    // log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow.
    const V rest = hn::Log1p(tag, hn::Exp(tag, hn::Neg(hn::Abs(x))));
    const V sum = hn::Add(hn::Max(x, hn::Zero(tag)), rest);
    return hn::IfThenElse(hn::IsNaN(x), x, sum);
  }
};

struct TanhOf {
  template <class D, class V>
  HWY_INLINE V operator()(D tag, V x) const {
    return hn::Tanh(tag, x);
  }
};

template <typename Dtype>
void ApplyTarget(Elementary function, int64_t n, const Dtype* in, Dtype* out) {
  switch (function) {
    case Elementary::kExp:
      return Transform(n, in, out, ExpOf());
    case Elementary::kExpm1:
      return Transform(n, in, out, Expm1Of());
    case Elementary::kLog:
      return Transform(n, in, out, LogOf());
    case Elementary::kSigmoid:
      return Transform(n, in, out, SigmoidOf());
    case Elementary::kSoftplus:
      return Transform(n, in, out, SoftplusOf());
    case Elementary::kTanh:
      return Transform(n, in, out, TanhOf());
  }
}

void ApplyFloat(Elementary function, int64_t n, const float* in, float* out) {
  ApplyTarget(function, n, in, out);
}
void ApplyDouble(Elementary function, int64_t n, const double* in,
                 double* out) {
  ApplyTarget(function, n, in, out);
}
void PowerFloat(int64_t n, float exponent, const float* in, float* out) {
  Power(n, exponent, in, out);
}
void PowerDouble(int64_t n, double exponent, const double* in, double* out) {
  Power(n, exponent, in, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::cpu {

HWY_EXPORT(ApplyFloat);
HWY_EXPORT(ApplyDouble);
HWY_EXPORT(PowerFloat);
HWY_EXPORT(PowerDouble);

namespace {

template <typename Dtype>
Dtype ApplyReference(Elementary function, Dtype x) {
  switch (function) {
    case Elementary::kExp:
      return std::exp(x);
    case Elementary::kExpm1:
      return std::expm1(x);
    case Elementary::kLog:
      return std::log(x);
    case Elementary::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Elementary::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Elementary::kTanh:
      return std::tanh(x);
  }
  return x;
}

void ApplyFastest(Elementary function, int64_t n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(ApplyFloat)(function, n, in, out);
}
void ApplyFastest(Elementary function, int64_t n, const double* in,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(ApplyDouble)(function, n, in, out);
}

}  // namespace

template <typename Dtype>
void Apply(Elementary function, Kernels kernels, int64_t n, const Dtype* in,
           Dtype* out) {
  if (kernels == Kernels::kFastest) return ApplyFastest(function, n, in, out);
  std::transform(in, in + n, out,
                 [=](Dtype x) { return ApplyReference(function, x); });
}

template void Apply(Elementary, Kernels, int64_t, const float*, float*);
template void Apply(Elementary, Kernels, int64_t, const double*, double*);

template <>
void NegativePower(int64_t n, float exponent, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(PowerFloat)(n, exponent, in, out);
}

template <>
void NegativePower(int64_t n, double exponent, const double* in, double* out) {
  HWY_DYNAMIC_DISPATCH(PowerDouble)(n, exponent, in, out);
}

}  // namespace caffe::cpu
#endif
