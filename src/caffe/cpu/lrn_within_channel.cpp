#include <vector>

#include "cpu/elementary.hpp"
#include "cpu/engine.hpp"
#include "cpu/lrn.hpp"
#include "cpu/lrn_reference.hpp"
#include "cpu/planes.hpp"

namespace caffe::cpu {

namespace {

// Replaces every value of a plane by the sum of the values in the window about
// it: first along rows, then along columns.
template <typename Dtype>
void SumWindows(const LrnShape& shape, int64_t reach,
                std::vector<Dtype>* values) {
  const int64_t height = shape.height;
  const int64_t width = shape.width;
  std::vector<Dtype> rows(values->size());
  for (int64_t h = 0; h < height; ++h) {
    const Dtype* const from = values->data() + h * width;
    for (int64_t w = 0; w < width; ++w) {
      const int64_t first = std::max<int64_t>(0, w - reach);
      const int64_t last = std::min(width - 1, w + reach);
      Dtype sum = 0;
      for (int64_t i = first; i <= last; ++i) sum += from[i];
      rows[h * width + w] = sum;
    }
  }
  std::fill(values->begin(), values->end(), Dtype(0));
  for (int64_t h = 0; h < height; ++h) {
    Dtype* const to = values->data() + h * width;
    const int64_t first = std::max<int64_t>(0, h - reach);
    const int64_t last = std::min(height - 1, h + reach);
    for (int64_t i = first; i <= last; ++i) {
      const Dtype* const from = rows.data() + i * width;
#pragma omp simd
      for (int64_t w = 0; w < width; ++w) to[w] += from[w];
    }
  }
}

// The scales of one plane.
template <typename Dtype>
std::vector<Dtype> Scales(const LrnShape& shape,
                          const LrnSettings<Dtype>& settings, const Dtype* in) {
  std::vector<Dtype> scales(shape.plane());
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = in[i] * in[i];
  SumWindows(shape, settings.size / 2, &scales);
  for (Dtype& scale : scales) scale = settings.k + settings.alpha * scale;
  return scales;
}

// Calls body(first) for all planes, on all threads: the index of their first
// value.
template <typename Body>
void ForPlanes(const LrnShape& shape, const Body& body) {
  ParallelFor(shape.num * shape.channels, PlaneGrain(shape.plane()),
              [&](int64_t begin, int64_t end) {
                for (int64_t plane = begin; plane < end; ++plane) {
                  body(plane * shape.plane());
                }
              });
}

}  // namespace

template <typename Dtype>
void LrnWithinChannel(const LrnShape& shape, const LrnSettings<Dtype>& settings,
                      const Dtype* in, Dtype* out) {
  if (kernels() == Kernels::kReference) {
    return LrnReference(LrnRegion::kWithinChannel, shape, settings, in, out);
  }
  ForPlanes(shape, [&](int64_t first) {
    std::vector<Dtype> scales = Scales(shape, settings, in + first);
    NegativePower(shape.plane(), settings.beta, scales.data(), scales.data());
    for (size_t i = 0; i < scales.size(); ++i) {
      out[first + i] = in[first + i] * scales[i];
    }
  });
}

template <typename Dtype>
void LrnWithinChannelBackward(const LrnShape& shape,
                              const LrnSettings<Dtype>& settings,
                              const Dtype* in, const Dtype* out_diff,
                              Dtype* in_diff) {
  if (kernels() == Kernels::kReference) {
    return LrnBackwardReference(LrnRegion::kWithinChannel, shape, settings, in,
                                out_diff, in_diff);
  }
  ForPlanes(shape, [&](int64_t first) {
    const std::vector<Dtype> scales = Scales(shape, settings, in + first);
    std::vector<Dtype> own(scales.size());
    NegativePower(shape.plane(), settings.beta, scales.data(), own.data());
    std::vector<Dtype> shared(scales.size());
    for (size_t i = 0; i < scales.size(); ++i) {
      own[i] *= out_diff[first + i];
      shared[i] = own[i] * in[first + i] / scales[i];
    }
    SumWindows(shape, settings.size / 2, &shared);
    const Dtype factor = 2 * settings.alpha * settings.beta;
    for (size_t i = 0; i < scales.size(); ++i) {
      in_diff[first + i] = own[i] - factor * in[first + i] * shared[i];
    }
  });
}

#define INSTANTIATE_LRN_WITHIN_CHANNEL(Dtype)                                \
  template void LrnWithinChannel(const LrnShape&, const LrnSettings<Dtype>&, \
                                 const Dtype*, Dtype*);                      \
  template void LrnWithinChannelBackward(const LrnShape&,                    \
                                         const LrnSettings<Dtype>&,          \
                                         const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_LRN_WITHIN_CHANNEL(float);
INSTANTIATE_LRN_WITHIN_CHANNEL(double);

}  // namespace caffe::cpu
