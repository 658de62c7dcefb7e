#include "cpu/top_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

template <typename Dtype>
struct Candidate {
  Dtype value;
  int64_t index;

  bool GoesBefore(const Candidate& other) const {
    if (value > other.value) return true;
    if (value < other.value) return false;
    // They are equal, or one is not a number.
    if (std::isnan(value) != std::isnan(other.value)) {
      return std::isnan(other.value);
    }
    return index > other.index;
  }
};

}  // namespace

template <typename Dtype>
void TopValues(int64_t outer, int64_t values, int64_t inner, int64_t k,
               const Dtype* in, int64_t step, Dtype* indices, Dtype* found) {
  const auto one_position = [&](int64_t o, int64_t i,
                                std::vector<Candidate<Dtype>>* candidates) {
    const Dtype* const from = in + o * values * inner + i;
    for (int64_t c = 0; c < values; ++c) {
      (*candidates)[c] = {from[c * inner], c};
    }
    std::partial_sort(
        candidates->begin(), candidates->begin() + k, candidates->end(),
        [](const auto& a, const auto& b) { return a.GoesBefore(b); });
    for (int64_t j = 0; j < k; ++j) {
      const int64_t to = o * step + j * inner + i;
      const Candidate<Dtype>& best = (*candidates)[j];
      if (indices != nullptr) indices[to] = static_cast<Dtype>(best.index);
      if (found != nullptr) found[to] = best.value;
    }
  };
  ParallelFor(outer * inner, kElementwiseGrain / std::max<int64_t>(1, values),
              [&](int64_t begin, int64_t end) {
                std::vector<Candidate<Dtype>> candidates(values);
                for (int64_t p = begin; p < end; ++p) {
                  one_position(p / inner, p % inner, &candidates);
                }
              });
}

#define INSTANTIATE_TOP_VALUES(Dtype)                                       \
  template void TopValues(int64_t, int64_t, int64_t, int64_t, const Dtype*, \
                          int64_t, Dtype*, Dtype*)

INSTANTIATE_TOP_VALUES(float);
INSTANTIATE_TOP_VALUES(double);

}  // namespace caffe::cpu
