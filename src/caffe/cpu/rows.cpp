#include "cpu/rows.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

template <typename Dtype>
void PickRows(std::span<const int> rows, int64_t width, const Dtype* in,
              Dtype* out) {
  ParallelFor(static_cast<int64_t>(rows.size()),
              kElementwiseGrain / std::max<int64_t>(1, width),
              [=](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  std::memcpy(out + i * width, in + rows[i] * width,
                              width * sizeof(Dtype));
                }
              });
}

template <typename Dtype>
void AddToRows(std::span<const int> rows, int64_t width, const Dtype* in,
               Dtype* out) {
  const auto count = static_cast<int64_t>(rows.size());
  // Every thread has columns of its own, so that no two add to the same value.
  ParallelFor(width, kElementwiseGrain / std::max<int64_t>(1, count),
              [=](int64_t begin, int64_t end) {
                for (int64_t i = 0; i < count; ++i) {
                  const Dtype* const from = in + i * width;
                  Dtype* const to = out + rows[i] * width;
                  for (int64_t k = begin; k < end; ++k) to[k] += from[k];
                }
              });
}

#define INSTANTIATE_ROWS(Dtype)                                                \
  template void PickRows(std::span<const int>, int64_t, const Dtype*, Dtype*); \
  template void AddToRows(std::span<const int>, int64_t, const Dtype*, Dtype*)

INSTANTIATE_ROWS(float);
INSTANTIATE_ROWS(double);

}  // namespace caffe::cpu
