#include "cpu/softmax.hpp"

#include <cmath>

#include "cpu/parallel.hpp"
#include "cpu/sums.hpp"

namespace caffe::cpu {

namespace {

// Positions worked on together when channels are not neighbours in memory.
constexpr int64_t kColumns = 64;
// A softmax value costs about as much as this many elementwise ones.
constexpr int64_t kExpCost = 8;

// Calls body(start, width) for runs of up to kColumns neighbouring positions:
// `start` is the offset of the first channel of the first of them.
template <typename Body>
void ForColumns(int64_t outer, int64_t channels, int64_t inner,
                const Body& body) {
  const int64_t runs = (inner + kColumns - 1) / kColumns;
  const int64_t values = channels * std::min(inner, kColumns);
  const int64_t grain =
      kElementwiseGrain / kExpCost / std::max<int64_t>(1, values);
  ParallelFor(outer * runs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % runs * kColumns;
      body(i / runs * channels * inner + column,
           std::min(kColumns, inner - column));
    }
  });
}

template <typename Dtype>
void SoftmaxRow(int64_t channels, const Dtype* in, Dtype* out) {
  Dtype largest = in[0];
  for (int64_t c = 1; c < channels; ++c) largest = std::max(largest, in[c]);
  Dtype sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    out[c] = std::exp(in[c] - largest);
    sum += out[c];
  }
  const Dtype scale = 1 / sum;
  for (int64_t c = 0; c < channels; ++c) out[c] *= scale;
}

template <typename Dtype>
void SoftmaxColumns(int64_t channels, int64_t inner, int64_t width,
                    const Dtype* in, Dtype* out) {
  Dtype largest[kColumns];
  std::copy_n(in, width, largest);
  for (int64_t c = 1; c < channels; ++c) {
    const Dtype* const row = in + c * inner;
    for (int64_t i = 0; i < width; ++i) {
      largest[i] = std::max(largest[i], row[i]);
    }
  }
  Dtype sum[kColumns] = {};
  for (int64_t c = 0; c < channels; ++c) {
    const Dtype* const from = in + c * inner;
    Dtype* const to = out + c * inner;
    for (int64_t i = 0; i < width; ++i) {
      to[i] = std::exp(from[i] - largest[i]);
      sum[i] += to[i];
    }
  }
  for (int64_t i = 0; i < width; ++i) sum[i] = 1 / sum[i];
  for (int64_t c = 0; c < channels; ++c) {
    Dtype* const to = out + c * inner;
    for (int64_t i = 0; i < width; ++i) to[i] *= sum[i];
  }
}

template <typename Dtype>
void SoftmaxBackwardRow(int64_t channels, const Dtype* out,
                        const Dtype* out_diff, Dtype* in_diff) {
  Dtype dot = 0;
  for (int64_t c = 0; c < channels; ++c) dot += out[c] * out_diff[c];
  for (int64_t c = 0; c < channels; ++c) {
    in_diff[c] = out[c] * (out_diff[c] - dot);
  }
}

template <typename Dtype>
void SoftmaxBackwardColumns(int64_t channels, int64_t inner, int64_t width,
                            const Dtype* out, const Dtype* out_diff,
                            Dtype* in_diff) {
  Dtype dot[kColumns] = {};
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t at = c * inner;
    for (int64_t i = 0; i < width; ++i)
      dot[i] += out[at + i] * out_diff[at + i];
  }
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t at = c * inner;
    for (int64_t i = 0; i < width; ++i) {
      in_diff[at + i] = out[at + i] * (out_diff[at + i] - dot[i]);
    }
  }
}

}  // namespace

template <typename Dtype>
void Softmax(int64_t outer, int64_t channels, int64_t inner, const Dtype* in,
             Dtype* out) {
  if (channels == 0) return;
  ForColumns(outer, channels, inner, [&](int64_t start, int64_t width) {
    if (inner == 1) {
      SoftmaxRow(channels, in + start, out + start);
    } else {
      SoftmaxColumns(channels, inner, width, in + start, out + start);
    }
  });
}

template <typename Dtype>
void SoftmaxBackward(int64_t outer, int64_t channels, int64_t inner,
                     const Dtype* out, const Dtype* out_diff, Dtype* in_diff) {
  ForColumns(outer, channels, inner, [&](int64_t start, int64_t width) {
    if (inner == 1) {
      SoftmaxBackwardRow(channels, out + start, out_diff + start,
                         in_diff + start);
    } else {
      SoftmaxBackwardColumns(channels, inner, width, out + start,
                             out_diff + start, in_diff + start);
    }
  });
}

template <typename Dtype>
double CrossEntropy(int64_t outer, int64_t channels, int64_t inner,
                    const Dtype* probabilities, const int* labels,
                    Dtype smallest) {
  return SumOf(outer * inner, [=](int64_t i) {
    if (labels[i] < 0) return 0.0;
    const Dtype probability =
        probabilities[(i / inner * channels + labels[i]) * inner + i % inner];
    return -LogOfAtLeast(smallest, probability);
  });
}

template <typename Dtype>
void CrossEntropyBackward(int64_t outer, int64_t channels, int64_t inner,
                          const Dtype* probabilities, const int* labels,
                          Dtype scale, Dtype* diff) {
  const int64_t grain = kElementwiseGrain / std::max<int64_t>(1, inner);
  ParallelFor(outer * channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int channel = static_cast<int>(row % channels);
      const int* const label = labels + row / channels * inner;
      const Dtype* const from = probabilities + row * inner;
      Dtype* const to = diff + row * inner;
      for (int64_t i = 0; i < inner; ++i) {
        const Dtype target = label[i] == channel ? 1 : 0;
        to[i] = label[i] < 0 ? Dtype(0) : scale * (from[i] - target);
      }
    }
  });
}

#define INSTANTIATE_SOFTMAX(Dtype)                                            \
  template void Softmax(int64_t, int64_t, int64_t, const Dtype*, Dtype*);     \
  template void SoftmaxBackward(int64_t, int64_t, int64_t, const Dtype*,      \
                                const Dtype*, Dtype*);                        \
  template double CrossEntropy(int64_t, int64_t, int64_t, const Dtype*,       \
                               const int*, Dtype);                            \
  template void CrossEntropyBackward(int64_t, int64_t, int64_t, const Dtype*, \
                                     const int*, Dtype, Dtype*)

INSTANTIATE_SOFTMAX(float);
INSTANTIATE_SOFTMAX(double);

}  // namespace caffe::cpu
