#include "cpu/piecewise.hpp"

#include <algorithm>
#include <vector>

#include "cpu/elementwise.hpp"
#include "cpu/mask.hpp"
#include "cpu/planes.hpp"

namespace caffe::cpu {

namespace {

// The slopes of `values` values of the array, from the first on.
template <typename Dtype>
void FindSlopes(const ChannelLayout& layout, const Dtype* slopes, int64_t first,
                int64_t values, Dtype* found) {
  int64_t channel = first / layout.inner % layout.channels;
  int64_t left = layout.inner - first % layout.inner;
  for (int64_t i = 0; i < values;) {
    const int64_t end = std::min(values, i + left);
    std::fill(found + i, found + end, slopes[channel]);
    i = end;
    left = layout.inner;
    channel = channel + 1 == layout.channels ? 0 : channel + 1;
  }
}

// The sum of out_diff * in over the values in [begin, end) whose bits are not
// set.
template <typename Dtype>
double SumOfOthers(int64_t begin, int64_t end, const unsigned int* mask,
                   const Dtype* in, const Dtype* out_diff) {
  // Several sums at a time, which compilers turn into vectors.
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  for (int64_t first = begin; first < end;) {
    const int64_t bit = first % kMaskBits;
    const int64_t size = std::min(kMaskBits - bit, end - first);
    const unsigned int bits = mask[first / kMaskBits] >> bit;
    Dtype others[kMaskBits];
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
      const Dtype x = in[first + i];
      others[i] = (bits & kBits[i]) != 0 ? 0 : x;
    }
    for (int64_t i = 0; i < size; ++i) {
      sums[i % kSums] += double(out_diff[first + i]) * others[i];
    }
    first += size;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

template <typename Dtype>
void AbsoluteBackward(int64_t n, const Dtype* in, const Dtype* out,
                      const Dtype* out_diff, Dtype* in_diff) {
  ForEachValue(n, [=](int64_t i) {
    const Dtype diff = in[i] > 0 ? out_diff[i] : -out_diff[i];
    in_diff[i] = out[i] != 0 ? diff : 0;
  });
}

template <typename Dtype>
void Threshold(int64_t n, Dtype threshold, const Dtype* in, Dtype* out) {
  ForEachValue(n, [=](int64_t i) { out[i] = in[i] > threshold ? 1 : 0; });
}

template <typename Dtype>
void Clip(int64_t n, Dtype lowest, Dtype highest, const Dtype* in, Dtype* out) {
  // Written so that what is not a number stays so.
  ForEachValue(n, [=](int64_t i) {
    const Dtype limited = in[i] < lowest ? lowest : in[i];
    out[i] = limited > highest ? highest : limited;
  });
}

template <typename Dtype>
void Prelu(const ChannelLayout& layout, const Dtype* slopes, const Dtype* in,
           Dtype* out, unsigned int* mask) {
  const int64_t n = layout.channels * layout.values();
  ForMaskWords(n, [=](int64_t word, int64_t first, int64_t values) {
    Dtype slope[kMaskBits];
    FindSlopes(layout, slopes, first, values, slope);
    mask[word] = WordOf(in + first, values, [](Dtype x) { return x > 0; });
#pragma omp simd
    for (int64_t i = 0; i < values; ++i) {
      const Dtype x = in[first + i];
      const Dtype sloping = slope[i] * x;
      out[first + i] = x > 0 ? x : sloping;
    }
  });
}

template <typename Dtype>
void PreluBackward(const ChannelLayout& layout, const Dtype* slopes,
                   const unsigned int* mask, const Dtype* out_diff,
                   Dtype* in_diff) {
  const int64_t n = layout.channels * layout.values();
  ForMaskWords(n, [=](int64_t word, int64_t first, int64_t values) {
    Dtype slope[kMaskBits];
    FindSlopes(layout, slopes, first, values, slope);
    const unsigned int bits = mask[word];
#pragma omp simd
    for (int64_t i = 0; i < values; ++i) {
      const Dtype diff = out_diff[first + i];
      in_diff[first + i] = (bits & kBits[i]) != 0 ? diff : slope[i] * diff;
    }
  });
}

template <typename Dtype>
void PreluSlopesBackward(const ChannelLayout& layout, const unsigned int* mask,
                         const Dtype* in, const Dtype* out_diff,
                         Dtype* slope_diffs) {
  // Plane by plane, so that the sums do not depend on the threads.
  const int64_t planes = layout.num * layout.channels;
  std::vector<double> sums(planes);
  ParallelFor(
      planes, PlaneGrain(layout.inner), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t first = plane * layout.inner;
          sums[plane] =
              SumOfOthers(first, first + layout.inner, mask, in, out_diff);
        }
      });
  for (int64_t c = 0; c < layout.channels; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < layout.num; ++n) {
      sum += sums[n * layout.channels + c];
    }
    slope_diffs[c] += sum;
  }
}

#define INSTANTIATE_PIECEWISE(Dtype)                                           \
  template void AbsoluteBackward(int64_t, const Dtype*, const Dtype*,          \
                                 const Dtype*, Dtype*);                        \
  template void Threshold(int64_t, Dtype, const Dtype*, Dtype*);               \
  template void Clip(int64_t, Dtype, Dtype, const Dtype*, Dtype*);             \
  template void Prelu(const ChannelLayout&, const Dtype*, const Dtype*,        \
                      Dtype*, unsigned int*);                                  \
  template void PreluBackward(const ChannelLayout&, const Dtype*,              \
                              const unsigned int*, const Dtype*, Dtype*);      \
  template void PreluSlopesBackward(const ChannelLayout&, const unsigned int*, \
                                    const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_PIECEWISE(float);
INSTANTIATE_PIECEWISE(double);

}  // namespace caffe::cpu
