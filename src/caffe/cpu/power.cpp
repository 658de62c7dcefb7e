#include "cpu/power.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/power.cpp"
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

HWY_EXPORT(PowerFloat);
HWY_EXPORT(PowerDouble);

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
