#ifndef CAFFE_SRC_CPU_ELEMENTWISE_HPP_
#define CAFFE_SRC_CPU_ELEMENTWISE_HPP_

#include <algorithm>
#include <cstdint>

#include "cpu/elementary.hpp"
#include "cpu/parallel.hpp"

// Loops over arrays whose values are treated each by itself. What is done with
// one is a function of its index.
namespace caffe::cpu {

// Calls value(i) for all i in [0, n), on all threads. A value costs about as
// much as `cost` sums.
// REQUIRES: no call depends on what another one did.
template <typename Value>
void ForEachValue(int64_t n, const Value& value, int64_t cost = 1) {
  ParallelFor(n, kElementwiseGrain / cost, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) value(i);
  });
}

// What an elementary function costs more than a sum.
constexpr int64_t kElementaryCost = 8;

// Calls after(i, function(before(i))) for all i in [0, n), on all threads.
// REQUIRES: no call depends on what another one did.
template <typename Dtype, typename Before, typename After>
void ForEachElementary(int64_t n, Elementary function, const Before& before,
                       const After& after) {
  // These stay in the first-level cache from one loop to the next.
  constexpr int64_t kBlock = 512;
  const Kernels choice = kernels();
  ParallelFor(n, kElementwiseGrain / kElementaryCost,
              [=](int64_t begin, int64_t end) {
                Dtype values[kBlock];
                for (int64_t first = begin; first < end; first += kBlock) {
                  const int64_t size = std::min(kBlock, end - first);
#pragma omp simd
                  for (int64_t i = 0; i < size; ++i)
                    values[i] = before(first + i);
                  Apply(function, choice, size, values, values);
#pragma omp simd
                  for (int64_t i = 0; i < size; ++i)
                    after(first + i, values[i]);
                }
              });
}

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ELEMENTWISE_HPP_
