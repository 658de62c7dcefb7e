#include "cpu/batch_norm_reference.hpp"

#include <cmath>

namespace caffe::cpu {

namespace {

// Calls body(index) for all values of one channel.
template <typename Body>
void ForChannel(const ChannelLayout& layout, int64_t c, const Body& body) {
  for (int64_t n = 0; n < layout.num; ++n) {
    for (int64_t i = 0; i < layout.inner; ++i) body(layout.plane(n, c) + i);
  }
}

// The mean of value(index) over one channel.
template <typename Value>
double Mean(const ChannelLayout& layout, int64_t c, const Value& value) {
  double sum = 0;
  ForChannel(layout, c, [&](int64_t i) { sum += value(i); });
  return sum / layout.values();
}

}  // namespace

template <typename Dtype>
void BatchNormForwardReference(const ChannelLayout& layout, Dtype eps,
                               const Dtype* in, Dtype* mean, Dtype* variance,
                               Dtype* out, Dtype* copy) {
  for (int64_t c = 0; c < layout.channels; ++c) {
    const double center = Mean(layout, c, [&](int64_t i) { return in[i]; });
    const double square = Mean(layout, c, [&](int64_t i) {
      return (in[i] - center) * (in[i] - center);
    });
    mean[c] = static_cast<Dtype>(center);
    variance[c] = static_cast<Dtype>(square);
    const double deviation = std::sqrt(square + eps);
    ForChannel(layout, c, [&](int64_t i) {
      out[i] = static_cast<Dtype>((in[i] - center) / deviation);
      if (copy != nullptr) copy[i] = out[i];
    });
  }
}

template <typename Dtype>
void BatchNormBackwardReference(const ChannelLayout& layout, const Dtype* in,
                                const Dtype* mean, const Dtype* deviation,
                                const Dtype* out_diff, Dtype* in_diff) {
  for (int64_t c = 0; c < layout.channels; ++c) {
    const auto x = [&](int64_t i) {
      return mean == nullptr ? double(in[i])
                             : (double(in[i]) - mean[c]) / deviation[c];
    };
    const double mean_diff =
        Mean(layout, c, [&](int64_t i) { return out_diff[i]; });
    const double mean_product =
        Mean(layout, c, [&](int64_t i) { return x(i) * out_diff[i]; });
    ForChannel(layout, c, [&](int64_t i) {
      in_diff[i] = static_cast<Dtype>(
          (out_diff[i] - mean_diff - x(i) * mean_product) / deviation[c]);
    });
  }
}

#define INSTANTIATE_BATCH_NORM_REFERENCE(Dtype)                                \
  template void BatchNormForwardReference(const ChannelLayout&, Dtype,         \
                                          const Dtype*, Dtype*, Dtype*,        \
                                          Dtype*, Dtype*);                     \
  template void BatchNormBackwardReference(const ChannelLayout&, const Dtype*, \
                                           const Dtype*, const Dtype*,         \
                                           const Dtype*, Dtype*)

INSTANTIATE_BATCH_NORM_REFERENCE(float);
INSTANTIATE_BATCH_NORM_REFERENCE(double);

}  // namespace caffe::cpu
