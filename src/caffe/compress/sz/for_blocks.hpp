#ifndef CAFFE_SRC_COMPRESS_SZ_FOR_BLOCKS_HPP_
#define CAFFE_SRC_COMPRESS_SZ_FOR_BLOCKS_HPP_

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace caffe::codec::sz {

// How many threads to give so many blocks to.
inline int ThreadsFor(uint64_t blocks) {
  if (omp_in_parallel()) return 1;
  return static_cast<int>(
      std::clamp<uint64_t>(blocks, 1, omp_get_max_threads()));
}

// Runs body(begin, end, thread) on ranges that cover the blocks, one for each
// thread. The body must not throw.
template <typename Body>
void ForBlocks(uint64_t blocks, int threads, const Body& body) {
#pragma omp parallel for num_threads(threads) \
    schedule(static, 1) if (threads > 1)
  for (int t = 0; t < threads; ++t) {
    body(blocks * t / threads, blocks * (t + 1) / threads, t);
  }
}

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_FOR_BLOCKS_HPP_
