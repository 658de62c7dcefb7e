#ifndef CAFFE_SRC_CPU_PLANES_HPP_
#define CAFFE_SRC_CPU_PLANES_HPP_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/parallel.hpp"
#include "cpu/stream.hpp"

namespace caffe::cpu {

// How many planes of `size` values make work for a thread.
inline int64_t PlaneGrain(int64_t size) {
  return std::max<int64_t>(1, kElementwiseGrain / std::max<int64_t>(1, size));
}

// Calls write(plane, to) for all planes, on all threads, to write the `size`
// values of each. A plane that is written value by value, here and there,
// should stay in the cache meanwhile and go to memory as a whole: `to` may be
// elsewhere first.
template <typename Dtype, typename Write>
void WritePlanes(int64_t planes, int64_t size, Dtype* values,
                 const Write& write) {
  const bool stream = WorthStreaming(planes * size * sizeof(Dtype)) &&
                      !WorthStreaming(size * sizeof(Dtype));
  ParallelFor(planes, PlaneGrain(size), [&](int64_t begin, int64_t end) {
    std::vector<Dtype> buffer(stream ? size : 0);
    for (int64_t plane = begin; plane < end; ++plane) {
      Dtype* const to = values + plane * size;
      write(plane, stream ? buffer.data() : to);
      if (stream) StreamBytes(size * sizeof(Dtype), buffer.data(), to);
    }
  });
}

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_PLANES_HPP_
