#include "cpu/lrn_reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace caffe::cpu {

namespace {

// For every value the sum of value(index) over the window about it.
template <typename Value>
std::vector<double> WindowSums(LrnRegion region, const LrnShape& shape,
                               int64_t size, const Value& value) {
  const bool across = region == LrnRegion::kAcrossChannels;
  const int64_t reach = size / 2;
  std::vector<double> sums;
  sums.reserve(shape.num * shape.channels * shape.plane());
  // [from, to) is what a window about `at` has of an axis that it extends over.
  const auto from = [&](int64_t at, bool extends) {
    return extends ? std::max<int64_t>(0, at - reach) : at;
  };
  const auto to = [&](int64_t at, bool extends, int64_t extent) {
    return extends ? std::min(extent, at + reach + 1) : at + 1;
  };
  for (int64_t n = 0; n < shape.num; ++n) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      for (int64_t h = 0; h < shape.height; ++h) {
        for (int64_t w = 0; w < shape.width; ++w) {
          double sum = 0;
          for (int64_t cc = from(c, across); cc < to(c, across, shape.channels);
               ++cc) {
            for (int64_t hh = from(h, !across);
                 hh < to(h, !across, shape.height); ++hh) {
              for (int64_t ww = from(w, !across);
                   ww < to(w, !across, shape.width); ++ww) {
                sum += value(((n * shape.channels + cc) * shape.height + hh) *
                                 shape.width +
                             ww);
              }
            }
          }
          sums.push_back(sum);
        }
      }
    }
  }
  return sums;
}

template <typename Dtype>
std::vector<double> Scales(LrnRegion region, const LrnShape& shape,
                           const LrnSettings<Dtype>& settings,
                           const Dtype* in) {
  std::vector<double> scales =
      WindowSums(region, shape, settings.size,
                 [&](int64_t i) { return double(in[i]) * in[i]; });
  for (double& scale : scales) scale = settings.k + settings.alpha * scale;
  return scales;
}

}  // namespace

template <typename Dtype>
void LrnReference(LrnRegion region, const LrnShape& shape,
                  const LrnSettings<Dtype>& settings, const Dtype* in,
                  Dtype* out) {
  const std::vector<double> scales = Scales(region, shape, settings, in);
  for (size_t i = 0; i < scales.size(); ++i) {
    out[i] = static_cast<Dtype>(in[i] * std::pow(scales[i], -settings.beta));
  }
}

template <typename Dtype>
void LrnBackwardReference(LrnRegion region, const LrnShape& shape,
                          const LrnSettings<Dtype>& settings, const Dtype* in,
                          const Dtype* out_diff, Dtype* in_diff) {
  const std::vector<double> scales = Scales(region, shape, settings, in);
  const auto power = [&](int64_t i) {
    return std::pow(scales[i], -settings.beta);
  };
  // A value is in the windows of all values that are in its own.
  const std::vector<double> sums = WindowSums(
      region, shape, settings.size,
      [&](int64_t i) { return out_diff[i] * in[i] * power(i) / scales[i]; });
  for (size_t i = 0; i < scales.size(); ++i) {
    in_diff[i] = static_cast<Dtype>(out_diff[i] * power(i) -
                                    2. * settings.alpha * settings.beta *
                                        in[i] * sums[i]);
  }
}

#define INSTANTIATE_LRN_REFERENCE(Dtype)                                       \
  template void LrnReference(LrnRegion, const LrnShape&,                       \
                             const LrnSettings<Dtype>&, const Dtype*, Dtype*); \
  template void LrnBackwardReference(LrnRegion, const LrnShape&,               \
                                     const LrnSettings<Dtype>&, const Dtype*,  \
                                     const Dtype*, Dtype*)

INSTANTIATE_LRN_REFERENCE(float);
INSTANTIATE_LRN_REFERENCE(double);

}  // namespace caffe::cpu
