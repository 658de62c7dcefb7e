#include <vector>

#include "cpu/elementary.hpp"
#include "cpu/engine.hpp"
#include "cpu/lrn.hpp"
#include "cpu/lrn_reference.hpp"
#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// Neighbouring places of an image that go through all channels together.
constexpr int64_t kStrip = 256;
// A value costs about as much as this many elementwise ones.
constexpr int64_t kCost = 8;

// Calls body(first, width) for all strips of all images, on all threads:
// `first` is the index of the strip's first value in channel 0.
template <typename Body>
void ForStrips(const LrnShape& shape, const Body& body) {
  const int64_t plane = shape.plane();
  const int64_t strips = (plane + kStrip - 1) / kStrip;
  const int64_t values =
      std::max<int64_t>(1, shape.channels * std::min(kStrip, plane));
  ParallelFor(shape.num * strips, kElementwiseGrain / kCost / values,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t place = i % strips * kStrip;
                  body(i / strips * shape.channels * plane + place,
                       std::min(kStrip, plane - place));
                }
              });
}

// Strips of the last channels, as many as a window holds; each takes the place
// of the one that left the window.
template <typename Dtype>
class Ring {
 public:
  Ring(int64_t rows, int64_t channels)
      : rows_(std::min(rows, channels)), values_(rows_ * kStrip) {}
  Dtype* operator[](int64_t channel) {
    return values_.data() + channel % rows_ * kStrip;
  }

 private:
  int64_t rows_;
  std::vector<Dtype> values_;
};

// sums = values of `ring` added up over the channels of the window about c.
template <typename Dtype>
void SumWindow(int64_t c, int64_t reach, int64_t channels, int64_t width,
               Ring<Dtype>* ring, Dtype* sums) {
  const int64_t first = std::max<int64_t>(0, c - reach);
  const int64_t last = std::min(channels - 1, c + reach);
  std::copy_n((*ring)[first], width, sums);
  for (int64_t channel = first + 1; channel <= last; ++channel) {
    const Dtype* const row = (*ring)[channel];
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) sums[i] += row[i];
  }
}

// Goes through the channels of one strip in their order and gives the scale of
// each. Reads its inputs once, `reach` channels ahead.
template <typename Dtype>
class ScaleOfStrip {
 public:
  ScaleOfStrip(const LrnShape& shape, const LrnSettings<Dtype>& settings)
      : shape_(shape),
        settings_(settings),
        squares_(settings.size, shape.channels) {}

  void Start(const Dtype* in, int64_t width) {
    in_ = in;
    width_ = width;
    ready_ = 0;
  }

  // REQUIRES: called for all channels, one after the other.
  void Compute(int64_t c, Dtype* scales) {
    const int64_t reach = settings_.size / 2;
    for (; ready_ < std::min(shape_.channels, c + reach + 1); ++ready_) {
      const Dtype* const from = in_ + ready_ * shape_.plane();
      Dtype* const to = squares_[ready_];
#pragma omp simd
      for (int64_t i = 0; i < width_; ++i) to[i] = from[i] * from[i];
    }
    SumWindow(c, reach, shape_.channels, width_, &squares_, scales);
    const Dtype k = settings_.k;
    const Dtype alpha = settings_.alpha;
#pragma omp simd
    for (int64_t i = 0; i < width_; ++i) scales[i] = k + alpha * scales[i];
  }

 private:
  const LrnShape& shape_;
  const LrnSettings<Dtype>& settings_;
  Ring<Dtype> squares_;
  const Dtype* in_ = nullptr;
  int64_t width_ = 0;
  int64_t ready_ = 0;
};

template <typename Dtype>
void BackwardStrip(const LrnShape& shape, const LrnSettings<Dtype>& settings,
                   int64_t width, const Dtype* in, const Dtype* out_diff,
                   Dtype* in_diff) {
  const int64_t plane = shape.plane();
  const int64_t reach = settings.size / 2;
  const Dtype factor = 2 * settings.alpha * settings.beta;
  ScaleOfStrip<Dtype> scale_of(shape, settings);
  scale_of.Start(in, width);
  // For the channels of a window: out_diff * scale ^ -beta, and that times
  // in / scale, which all channels of the window get a part of.
  Ring<Dtype> own(settings.size, shape.channels);
  Ring<Dtype> shared(settings.size, shape.channels);
  Dtype scales[kStrip];
  Dtype powers[kStrip];
  for (int64_t step = 0; step < shape.channels + reach; ++step) {
    if (step < shape.channels) {
      scale_of.Compute(step, scales);
      NegativePower(width, settings.beta, scales, powers);
      const Dtype* const x = in + step * plane;
      const Dtype* const diff = out_diff + step * plane;
      Dtype* const own_row = own[step];
      Dtype* const shared_row = shared[step];
#pragma omp simd
      for (int64_t i = 0; i < width; ++i) {
        own_row[i] = diff[i] * powers[i];
        shared_row[i] = own_row[i] * x[i] / scales[i];
      }
    }
    const int64_t c = step - reach;
    if (c < 0) continue;
    Dtype* const sums = powers;
    SumWindow(c, reach, shape.channels, width, &shared, sums);
    const Dtype* const x = in + c * plane;
    const Dtype* const own_row = own[c];
    Dtype* const to = in_diff + c * plane;
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      to[i] = own_row[i] - factor * x[i] * sums[i];
    }
  }
}

}  // namespace

template <typename Dtype>
void LrnAcrossChannels(const LrnShape& shape,
                       const LrnSettings<Dtype>& settings, const Dtype* in,
                       Dtype* out) {
  if (kernels() == Kernels::kReference) {
    return LrnReference(LrnRegion::kAcrossChannels, shape, settings, in, out);
  }
  ForStrips(shape, [&](int64_t first, int64_t width) {
    ScaleOfStrip<Dtype> scale_of(shape, settings);
    scale_of.Start(in + first, width);
    Dtype scales[kStrip];
    for (int64_t c = 0; c < shape.channels; ++c) {
      scale_of.Compute(c, scales);
      NegativePower(width, settings.beta, scales, scales);
      const Dtype* const x = in + first + c * shape.plane();
      Dtype* const y = out + first + c * shape.plane();
#pragma omp simd
      for (int64_t i = 0; i < width; ++i) y[i] = x[i] * scales[i];
    }
  });
}

template <typename Dtype>
void LrnAcrossChannelsBackward(const LrnShape& shape,
                               const LrnSettings<Dtype>& settings,
                               const Dtype* in, const Dtype* out_diff,
                               Dtype* in_diff) {
  if (kernels() == Kernels::kReference) {
    return LrnBackwardReference(LrnRegion::kAcrossChannels, shape, settings, in,
                                out_diff, in_diff);
  }
  ForStrips(shape, [&](int64_t first, int64_t width) {
    BackwardStrip(shape, settings, width, in + first, out_diff + first,
                  in_diff + first);
  });
}

#define INSTANTIATE_LRN_ACROSS_CHANNELS(Dtype)                                \
  template void LrnAcrossChannels(const LrnShape&, const LrnSettings<Dtype>&, \
                                  const Dtype*, Dtype*);                      \
  template void LrnAcrossChannelsBackward(const LrnShape&,                    \
                                          const LrnSettings<Dtype>&,          \
                                          const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_LRN_ACROSS_CHANNELS(float);
INSTANTIATE_LRN_ACROSS_CHANNELS(double);

}  // namespace caffe::cpu
