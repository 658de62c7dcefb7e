#include "cpu/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// Values that are summed before the sums are.
constexpr int64_t kSumBlock = 4096;

template <typename Dtype, typename Term>
double SumOf(int64_t count, const Dtype* in, const Term& term) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += term(in[i]);
  return sum;
}

template <typename Dtype>
double SumBlock(Addend addend, int64_t count, const Dtype* in) {
  switch (addend) {
    case Addend::kAbsolute:
      return SumOf(count, in, [](double value) { return std::abs(value); });
    case Addend::kSquare:
      return SumOf(count, in, [](double value) { return value * value; });
    default:
      return SumOf(count, in, [](double value) { return value; });
  }
}

template <typename Dtype>
Dtype Sign(Dtype value) {
  return static_cast<Dtype>((value > 0) - (value < 0));
}

}  // namespace

template <typename Dtype>
void SumRows(Addend addend, int64_t rows, int64_t width, Dtype factor,
             const Dtype* in, Dtype* sums) {
  const int64_t blocks = (width + kSumBlock - 1) / kSumBlock;
  std::vector<double> parts(rows * blocks);
  ParallelFor(rows * blocks,
              kElementwiseGrain / std::clamp<int64_t>(width, 1, kSumBlock),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t first = i % blocks * kSumBlock;
                  parts[i] =
                      SumBlock(addend, std::min(kSumBlock, width - first),
                               in + i / blocks * width + first);
                }
              });
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < blocks; ++i) sum += parts[row * blocks + i];
    sums[row] = static_cast<Dtype>(factor * sum);
  }
}

template <typename Dtype>
void SumRowsBackward(Addend addend, int64_t rows, int64_t width, Dtype factor,
                     const Dtype* in, const Dtype* sums_diff, Dtype* in_diff) {
  ParallelFor(rows * width, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end;) {
      const int64_t row = first / width;
      const int64_t last = std::min(end, (row + 1) * width);
      const Dtype diff = factor * sums_diff[row];
      switch (addend) {
        case Addend::kValue:
          std::fill(in_diff + first, in_diff + last, diff);
          break;
        case Addend::kAbsolute:
          for (int64_t i = first; i < last; ++i) {
            in_diff[i] = diff * Sign(in[i]);
          }
          break;
        case Addend::kSquare:
          for (int64_t i = first; i < last; ++i) {
            in_diff[i] = 2 * diff * in[i];
          }
          break;
      }
      first = last;
    }
  });
}

#define INSTANTIATE_REDUCTION(Dtype)                                           \
  template void SumRows(Addend, int64_t, int64_t, Dtype, const Dtype*,         \
                        Dtype*);                                               \
  template void SumRowsBackward(Addend, int64_t, int64_t, Dtype, const Dtype*, \
                                const Dtype*, Dtype*)

INSTANTIATE_REDUCTION(float);
INSTANTIATE_REDUCTION(double);

}  // namespace caffe::cpu
