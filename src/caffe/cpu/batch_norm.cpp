#include "cpu/batch_norm.hpp"

#include <cmath>
#include <vector>

#include "cpu/batch_norm_reference.hpp"
#include "cpu/channel_sums.hpp"
#include "cpu/engine.hpp"

namespace caffe::cpu {

namespace {

// The mean and variance of the channels [begin, end), reading them once.
template <typename Dtype>
void Moments(const ChannelLayout& layout, int64_t begin, int64_t end,
             const Dtype* in, Dtype* mean, Dtype* variance) {
  const int64_t channels = end - begin;
  mean += begin;
  variance += begin;
  // Squares of distances from any value near the mean keep their digits where
  // the squares of the values would cancel: the mean of the first image is
  // near enough.
  ChannelLayout first = layout;
  first.num = 1;
  std::fill_n(mean, channels, Dtype(0));
  std::vector<double> sums(channels);
  std::vector<double> squares(channels);
  AddDistances(first, begin, end, in, mean, sums.data(), squares.data());
  for (int64_t k = 0; k < channels; ++k) {
    mean[k] = static_cast<Dtype>(sums[k] / first.values());
  }
  std::fill(sums.begin(), sums.end(), 0.);
  std::fill(squares.begin(), squares.end(), 0.);
  AddDistances(layout, begin, end, in, mean, sums.data(), squares.data());
  for (int64_t k = 0; k < channels; ++k) {
    const double rest = sums[k] / layout.values();
    const double square = squares[k] / layout.values();
    mean[k] = static_cast<Dtype>(mean[k] + rest);
    variance[k] = static_cast<Dtype>(std::max(0., square - rest * rest));
  }
}

// BatchNormApply for the channels [begin, end).
template <typename Dtype>
void Apply(const ChannelLayout& layout, int64_t begin, int64_t end,
           const Dtype* in, const Dtype* mean, const Dtype* factors, Dtype* out,
           Dtype* copy) {
  ForValues(layout, begin, end, [&](int64_t c) {
    return [=, center = mean[c], factor = factors[c]](int64_t i) {
      out[i] = (in[i] - center) * factor;
    };
  });
  if (copy != nullptr) CopyChannels(layout, begin, end, out, copy);
}

// The means of the channels [begin, end), or zeros.
template <typename Dtype>
std::vector<Dtype> Centers(int64_t begin, int64_t end, const Dtype* mean) {
  std::vector<Dtype> centers(end - begin);
  if (mean != nullptr) std::copy(mean + begin, mean + end, centers.begin());
  return centers;
}

// BatchNormBackwardWithSums for the channels [begin, end); sums[0] is that of
// the first of them.
template <typename Dtype>
void Backward(const ChannelLayout& layout, int64_t begin, int64_t end,
              int64_t values, const double* sums, const double* products,
              const Dtype* in, const Dtype* mean, const Dtype* deviation,
              const Dtype* out_diff, Dtype* in_diff) {
  const int64_t channels = end - begin;
  const std::vector<Dtype> centers = Centers(begin, end, mean);
  // in_diff = factor * out_diff + slope * (in - center) + offset.
  std::vector<Dtype> factors(channels);
  std::vector<Dtype> slopes(channels);
  std::vector<Dtype> offsets(channels);
  for (int64_t k = 0; k < channels; ++k) {
    const double factor = 1 / double(deviation[begin + k]);
    const double to_x = mean == nullptr ? 1 : factor;
    factors[k] = static_cast<Dtype>(factor);
    slopes[k] =
        static_cast<Dtype>(-factor * to_x * to_x * products[k] / values);
    offsets[k] = static_cast<Dtype>(-factor * sums[k] / values);
  }
  ForValues(layout, begin, end, [&](int64_t c) {
    const int64_t k = c - begin;
    return [=, factor = factors[k], slope = slopes[k], offset = offsets[k],
            about = centers[k]](int64_t i) {
      in_diff[i] = factor * out_diff[i] + slope * (in[i] - about) + offset;
    };
  });
}

}  // namespace

template <typename Dtype>
void ChannelMoments(const ChannelLayout& layout, const Dtype* in, Dtype* mean,
                    Dtype* variance) {
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    Moments(layout, begin, end, in, mean, variance);
  });
}

template <typename Dtype>
void BatchNormForward(const ChannelLayout& layout, Dtype eps, const Dtype* in,
                      Dtype* mean, Dtype* variance, Dtype* out, Dtype* copy) {
  if (kernels() == Kernels::kReference) {
    return BatchNormForwardReference(layout, eps, in, mean, variance, out,
                                     copy);
  }
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    Moments(layout, begin, end, in, mean, variance);
    std::vector<Dtype> factors(layout.channels);
    BatchNormFactors(end - begin, eps, variance + begin, &factors[begin]);
    Apply(layout, begin, end, in, mean, factors.data(), out, copy);
  });
}

template <typename Dtype>
void BatchNormFactors(int64_t channels, Dtype eps, const Dtype* variance,
                      Dtype* factors) {
  for (int64_t c = 0; c < channels; ++c) {
    factors[c] = static_cast<Dtype>(1 / std::sqrt(double(variance[c]) + eps));
  }
}

template <typename Dtype>
void BatchNormApply(const ChannelLayout& layout, const Dtype* in,
                    const Dtype* mean, const Dtype* factors, Dtype* out,
                    Dtype* copy) {
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    Apply(layout, begin, end, in, mean, factors, out, copy);
  });
}

template <typename Dtype>
void Normalize(const ChannelLayout& layout, const Dtype* in, const Dtype* mean,
               const Dtype* deviation, Dtype* out) {
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    ForValues(layout, begin, end, [=](int64_t c) {
      return [=, center = mean[c], factor = 1 / deviation[c]](int64_t i) {
        out[i] = (in[i] - center) * factor;
      };
    });
  });
}

template <typename Dtype>
void BatchNormBackward(const ChannelLayout& layout, const Dtype* in,
                       const Dtype* mean, const Dtype* deviation,
                       const Dtype* out_diff, Dtype* in_diff) {
  if (kernels() == Kernels::kReference) {
    return BatchNormBackwardReference(layout, in, mean, deviation, out_diff,
                                      in_diff);
  }
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    const std::vector<Dtype> centers = Centers(begin, end, mean);
    std::vector<double> sums(end - begin);
    std::vector<double> products(end - begin);
    AddProducts(layout, begin, end, out_diff, in, centers.data(), sums.data(),
                products.data());
    Backward(layout, begin, end, layout.values(), sums.data(), products.data(),
             in, mean, deviation, out_diff, in_diff);
  });
}

template <typename Dtype>
void AddBatchNormSums(const ChannelLayout& layout, const Dtype* in,
                      const Dtype* mean, const Dtype* out_diff, double* sums,
                      double* products) {
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    const std::vector<Dtype> centers = Centers(begin, end, mean);
    AddProducts(layout, begin, end, out_diff, in, centers.data(), sums + begin,
                products + begin);
  });
}

template <typename Dtype>
void BatchNormBackwardWithSums(const ChannelLayout& layout, int64_t values,
                               const double* sums, const double* products,
                               const Dtype* in, const Dtype* mean,
                               const Dtype* deviation, const Dtype* out_diff,
                               Dtype* in_diff) {
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    Backward(layout, begin, end, values, sums + begin, products + begin, in,
             mean, deviation, out_diff, in_diff);
  });
}

#define INSTANTIATE_BATCH_NORM(Dtype)                                       \
  template void BatchNormForward(const ChannelLayout&, Dtype, const Dtype*, \
                                 Dtype*, Dtype*, Dtype*, Dtype*);           \
  template void Normalize(const ChannelLayout&, const Dtype*, const Dtype*, \
                          const Dtype*, Dtype*);                            \
  template void BatchNormBackward(const ChannelLayout&, const Dtype*,       \
                                  const Dtype*, const Dtype*, const Dtype*, \
                                  Dtype*);                                  \
  template void ChannelMoments(const ChannelLayout&, const Dtype*, Dtype*,  \
                               Dtype*);                                     \
  template void BatchNormFactors(int64_t, Dtype, const Dtype*, Dtype*);     \
  template void BatchNormApply(const ChannelLayout&, const Dtype*,          \
                               const Dtype*, const Dtype*, Dtype*, Dtype*); \
  template void AddBatchNormSums(const ChannelLayout&, const Dtype*,        \
                                 const Dtype*, const Dtype*, double*,       \
                                 double*);                                  \
  template void BatchNormBackwardWithSums(                                  \
      const ChannelLayout&, int64_t, const double*, const double*,          \
      const Dtype*, const Dtype*, const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_BATCH_NORM(float);
INSTANTIATE_BATCH_NORM(double);

}  // namespace caffe::cpu
