#ifndef CAFFE_SRC_CPU_STREAM_HPP_
#define CAFFE_SRC_CPU_STREAM_HPP_

#include <cstddef>

namespace caffe::cpu {

// Whether an array of so many bytes is better written around the caches. They
// would have to read its old values first, and would have lost the new ones
// before anyone asks for them.
constexpr bool WorthStreaming(size_t bytes) {
  constexpr size_t kManyBytes = 4 << 20;
  return bytes >= kManyBytes;
}

// Copies bytes around the caches, in the calling thread. The two must not
// overlap.
void StreamBytes(size_t bytes, const void* from, void* to);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_STREAM_HPP_
