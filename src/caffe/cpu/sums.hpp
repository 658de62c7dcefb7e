#ifndef CAFFE_SRC_CPU_SUMS_HPP_
#define CAFFE_SRC_CPU_SUMS_HPP_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cpu/parallel.hpp"

// Sums of losses.
namespace caffe::cpu {

// The logarithm of a probability, which must not make a loss infinite when it
// underflows; what is not a number stays so.
template <typename Dtype>
double LogOfAtLeast(Dtype smallest, Dtype probability) {
  return std::log(probability < smallest ? smallest : probability);
}

// The sum of term(i) for all i in [0, n), on all threads. It is made of the
// sums of blocks of a fixed size, and so does not depend on the threads.
template <typename Term>
double SumOf(int64_t n, const Term& term) {
  constexpr int64_t kBlock = 1024;
  std::vector<double> sums((n + kBlock - 1) / kBlock);
  ParallelFor(sums.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t last = std::min((block + 1) * kBlock, n);
      for (int64_t i = block * kBlock; i < last; ++i) sums[block] += term(i);
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_SUMS_HPP_
