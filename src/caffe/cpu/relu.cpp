#include "cpu/relu.hpp"

#include "cpu/parallel.hpp"

namespace caffe::cpu {

template <typename Dtype>
void Relu(int64_t n, Dtype slope, const Dtype* in, Dtype* out) {
  ParallelFor(n, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    if (slope == 0) {
      // Zero times infinity is not a number: no product here.
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) out[i] = in[i] < 0 ? 0 : in[i];
    } else {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        out[i] = in[i] > 0 ? in[i] : slope * in[i];
      }
    }
  });
}

template <typename Dtype>
void ReluBackward(int64_t n, Dtype slope, const Dtype* signs,
                  const Dtype* out_diff, Dtype* in_diff) {
  // The gradient is read whatever the sign: a conditional load would become a
  // branch, and signs are hard to predict.
  ParallelFor(n, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    if (slope == 0) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        const Dtype diff = out_diff[i];
        in_diff[i] = signs[i] != 0 ? diff : 0;
      }
    } else {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        in_diff[i] = signs[i] > 0 ? out_diff[i] : slope * out_diff[i];
      }
    }
  });
}

#define INSTANTIATE_RELU(Dtype)                             \
  template void Relu(int64_t, Dtype, const Dtype*, Dtype*); \
  template void ReluBackward(int64_t, Dtype, const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_RELU(float);
INSTANTIATE_RELU(double);

}  // namespace caffe::cpu
