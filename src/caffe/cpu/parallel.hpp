#ifndef CAFFE_SRC_CPU_PARALLEL_HPP_
#define CAFFE_SRC_CPU_PARALLEL_HPP_

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace caffe::cpu {

// Values below which a thread costs more than it saves, for loops that do
// little per value.
constexpr int64_t kElementwiseGrain = 16384;

// Calls body(begin, end) on disjoint ranges that cover [0, n), on several
// threads when every one gets at least `grain` items. The number of threads is
// OpenMP's, which BLAS and oneDNN follow as well. Body must not throw.
template <typename Body>
void ParallelFor(int64_t n, int64_t grain, const Body& body) {
  const int64_t useful = std::max<int64_t>(1, n / std::max<int64_t>(1, grain));
  const int threads =
      static_cast<int>(std::min<int64_t>(useful, omp_get_max_threads()));
  if (threads <= 1 || omp_in_parallel()) {
    if (n > 0) body(int64_t{0}, n);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const int64_t count = omp_get_num_threads();
    const int64_t rank = omp_get_thread_num();
    const int64_t begin = n * rank / count;
    const int64_t end = n * (rank + 1) / count;
    if (begin < end) body(begin, end);
  }
}

// Makes libraries that the calling thread calls use so many threads, until the
// end of its scope.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads) : outer_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ScopedThreads() { omp_set_num_threads(outer_); }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  const int outer_;
};

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_PARALLEL_HPP_
