#include "cpu/channel_sums.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/channel_sums.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Values that are added up in their own type before their sum is added to a
// double.
constexpr int64_t kBlock = 2048;

// Adds up two numbers a value side by side. Terms gives them for a vector of
// values: terms(tag, index, &a, &b). Several sums take turns, because every
// addition has to wait for the one before.
template <typename Dtype, typename Terms>
HWY_INLINE void SumPlane(int64_t n, const Terms& terms, double* sum_a,
                         double* sum_b) {
  const hn::ScalableTag<Dtype> tag;
  using V = hn::Vec<decltype(tag)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = HWY_MIN(n, i + kBlock);
    V a0 = hn::Zero(tag), a1 = a0, a2 = a0, a3 = a0;
    V b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      terms(tag, i, &a0, &b0);
      terms(tag, i + lanes, &a1, &b1);
      terms(tag, i + 2 * lanes, &a2, &b2);
      terms(tag, i + 3 * lanes, &a3, &b3);
    }
    for (; i + lanes <= end; i += lanes) terms(tag, i, &a0, &b0);
    const V a = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
    const V b = hn::Add(hn::Add(b0, b1), hn::Add(b2, b3));
    *sum_a += hn::GetLane(hn::SumOfLanes(tag, a));
    *sum_b += hn::GetLane(hn::SumOfLanes(tag, b));
  }
  const hn::CappedTag<Dtype, 1> single;
  auto a = hn::Zero(single);
  auto b = hn::Zero(single);
  for (; i < n; ++i) terms(single, i, &a, &b);
  *sum_a += hn::GetLane(a);
  *sum_b += hn::GetLane(b);
}

template <typename Dtype>
void SumDistances(int64_t n, const Dtype* in, Dtype center, double* sum,
                  double* squares) {
  SumPlane<Dtype>(
      n,
      [=](auto tag, int64_t i, auto* a, auto* b) HWY_ATTR {
        const auto distance =
            hn::Sub(hn::LoadU(tag, in + i), hn::Set(tag, center));
        *a = hn::Add(*a, distance);
        *b = hn::MulAdd(distance, distance, *b);
      },
      sum, squares);
}

template <typename Dtype>
void SumProducts(int64_t n, const Dtype* diff, const Dtype* in, Dtype center,
                 double* sum, double* products) {
  SumPlane<Dtype>(
      n,
      [=](auto tag, int64_t i, auto* a, auto* b) HWY_ATTR {
        const auto distance =
            hn::Sub(hn::LoadU(tag, in + i), hn::Set(tag, center));
        const auto value = hn::LoadU(tag, diff + i);
        *a = hn::Add(*a, value);
        *b = hn::MulAdd(value, distance, *b);
      },
      sum, products);
}

void SumDistancesF(int64_t n, const float* in, float center, double* sum,
                   double* squares) {
  SumDistances(n, in, center, sum, squares);
}
void SumDistancesD(int64_t n, const double* in, double center, double* sum,
                   double* squares) {
  SumDistances(n, in, center, sum, squares);
}
void SumProductsF(int64_t n, const float* diff, const float* in, float center,
                  double* sum, double* products) {
  SumProducts(n, diff, in, center, sum, products);
}
void SumProductsD(int64_t n, const double* diff, const double* in,
                  double center, double* sum, double* products) {
  SumProducts(n, diff, in, center, sum, products);
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::cpu {

namespace {

HWY_EXPORT(SumDistancesF);
HWY_EXPORT(SumDistancesD);
HWY_EXPORT(SumProductsF);
HWY_EXPORT(SumProductsD);

void SumDistances(int64_t n, const float* in, float center, double* sum,
                  double* squares) {
  HWY_DYNAMIC_DISPATCH(SumDistancesF)(n, in, center, sum, squares);
}
void SumDistances(int64_t n, const double* in, double center, double* sum,
                  double* squares) {
  HWY_DYNAMIC_DISPATCH(SumDistancesD)(n, in, center, sum, squares);
}
void SumProducts(int64_t n, const float* diff, const float* in, float center,
                 double* sum, double* products) {
  HWY_DYNAMIC_DISPATCH(SumProductsF)(n, diff, in, center, sum, products);
}
void SumProducts(int64_t n, const double* diff, const double* in, double center,
                 double* sum, double* products) {
  HWY_DYNAMIC_DISPATCH(SumProductsD)(n, diff, in, center, sum, products);
}

// Calls row(first) with the index of the first of end - begin values, one for
// each channel, where planes are single values; plane(k, first) for the planes
// of channel begin + k otherwise.
template <typename Row, typename Plane>
void ForRowsOrPlanes(const ChannelLayout& layout, int64_t begin, int64_t end,
                     const Row& row, const Plane& plane) {
  for (int64_t n = 0; n < layout.num; ++n) {
    if (layout.inner == 1) {
      row(layout.plane(n, begin));
      continue;
    }
    for (int64_t c = begin; c < end; ++c) plane(c - begin, layout.plane(n, c));
  }
}

}  // namespace

template <typename Dtype>
void AddDistances(const ChannelLayout& layout, int64_t begin, int64_t end,
                  const Dtype* in, const Dtype* center, double* sums,
                  double* squares) {
  ForRowsOrPlanes(
      layout, begin, end,
      [=](int64_t first) {
#pragma omp simd
        for (int64_t k = 0; k < end - begin; ++k) {
          const double distance = in[first + k] - center[k];
          sums[k] += distance;
          squares[k] += distance * distance;
        }
      },
      [=](int64_t k, int64_t first) {
        SumDistances(layout.inner, in + first, center[k], sums + k,
                     squares + k);
      });
}

template <typename Dtype>
void AddProducts(const ChannelLayout& layout, int64_t begin, int64_t end,
                 const Dtype* diff, const Dtype* in, const Dtype* center,
                 double* sums, double* products) {
  ForRowsOrPlanes(
      layout, begin, end,
      [=](int64_t first) {
#pragma omp simd
        for (int64_t k = 0; k < end - begin; ++k) {
          const double value = diff[first + k];
          sums[k] += value;
          products[k] += value * (in[first + k] - center[k]);
        }
      },
      [=](int64_t k, int64_t first) {
        SumProducts(layout.inner, diff + first, in + first, center[k], sums + k,
                    products + k);
      });
}

#define INSTANTIATE_CHANNEL_SUMS(Dtype)                                        \
  template void AddDistances(const ChannelLayout&, int64_t, int64_t,           \
                             const Dtype*, const Dtype*, double*, double*);    \
  template void AddProducts(const ChannelLayout&, int64_t, int64_t,            \
                            const Dtype*, const Dtype*, const Dtype*, double*, \
                            double*)

INSTANTIATE_CHANNEL_SUMS(float);
INSTANTIATE_CHANNEL_SUMS(double);

}  // namespace caffe::cpu
#endif
