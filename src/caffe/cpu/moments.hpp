#ifndef CAFFE_SRC_CPU_MOMENTS_HPP_
#define CAFFE_SRC_CPU_MOMENTS_HPP_

#include <cstdint>

namespace caffe::cpu {

// What describes an array of values in a few numbers.
struct Moments {
  double mean = 0;
  double deviation = 0;
  double smallest = 0;
  double largest = 0;
  double nonzero_fraction = 0;
};

// Zeros for an empty array. The result does not depend on the number of
// threads.
template <typename Dtype>
Moments MomentsOf(int64_t count, const Dtype* values);

// The L2 norm and the mean of the absolute values.
struct Norms {
  double l2 = 0;
  double mean_absolute = 0;
};

template <typename Dtype>
Norms NormsOf(int64_t count, const Dtype* values);

// The largest |a - b|. Infinite where only one of them is a number, or they are
// different infinities.
template <typename Dtype>
double LargestDifference(int64_t count, const Dtype* a, const Dtype* b);

// Whether none is infinite or not a number.
template <typename Dtype>
bool AllFinite(int64_t count, const Dtype* values);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_MOMENTS_HPP_
