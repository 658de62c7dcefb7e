#ifndef CAFFE_SRC_CPU_CHANNELS_HPP_
#define CAFFE_SRC_CPU_CHANNELS_HPP_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/parallel.hpp"
#include "cpu/stream.hpp"

// Loops over arrays whose channels are treated each in its own way, as batch
// normalization and scaling do. What is done with one value is a function of
// its index; it comes from a function of the channel, which reads what is the
// same for the whole channel:
//
//   ForValues(layout, begin, end, [&](int64_t c) {
//     const Dtype factor = factors[c];
//     return [=](int64_t i) { out[i] = factor * in[i]; };
//   });
namespace caffe::cpu {

// Arrays of (num, channels, inner) values. A plane is the `inner` values that
// one channel has in one image.
struct ChannelLayout {
  int64_t num = 0;
  int64_t channels = 0;
  int64_t inner = 0;

  // Values of one channel.
  int64_t values() const { return num * inner; }
  int64_t plane(int64_t n, int64_t c) const {
    return (n * channels + c) * inner;
  }
};

// Calls body(begin, end) for ranges of channels, on all threads. A range is as
// small as it can be without reading too little of every image at a time, so
// that a core's own cache holds it from one loop to the next. Ranges do not
// depend on the number of threads.
template <typename Body>
void ForChannelRanges(const ChannelLayout& layout, const Body& body) {
  constexpr int64_t kRangeValues = 16384;
  const int64_t values = std::max<int64_t>(1, layout.values());
  const int64_t range = std::max<int64_t>(1, kRangeValues / values);
  const int64_t ranges = (layout.channels + range - 1) / range;
  ParallelFor(ranges, kElementwiseGrain / (range * values),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  body(i * range, std::min((i + 1) * range, layout.channels));
                }
              });
}

// Calls what `channel(c)` returns for all values of the channels [begin, end).
// REQUIRES: no call depends on what another one did.
template <typename Channel>
void ForValues(const ChannelLayout& layout, int64_t begin, int64_t end,
               const Channel& channel) {
  for (int64_t n = 0; n < layout.num; ++n) {
    if (layout.inner == 1) {
      const int64_t row = layout.plane(n, 0);
#pragma omp simd
      for (int64_t c = begin; c < end; ++c) channel(c)(row + c);
      continue;
    }
    for (int64_t c = begin; c < end; ++c) {
      const auto value = channel(c);
      const int64_t first = layout.plane(n, c);
#pragma omp simd
      for (int64_t i = first; i < first + layout.inner; ++i) value(i);
    }
  }
}

// Copies the channels [begin, end).
template <typename Dtype>
void CopyChannels(const ChannelLayout& layout, int64_t begin, int64_t end,
                  const Dtype* from, Dtype* to) {
  constexpr size_t kLongRun = 4096;
  const size_t bytes = (end - begin) * layout.inner * sizeof(Dtype);
  const bool stream =
      bytes >= kLongRun &&
      WorthStreaming(layout.channels * layout.values() * sizeof(Dtype));
  for (int64_t n = 0; n < layout.num; ++n) {
    const int64_t first = layout.plane(n, begin);
    if (stream) {
      StreamBytes(bytes, from + first, to + first);
    } else {
      std::memcpy(to + first, from + first, bytes);
    }
  }
}

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_CHANNELS_HPP_
