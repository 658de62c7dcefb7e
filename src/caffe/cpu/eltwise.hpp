#ifndef CAFFE_SRC_CPU_ELTWISE_HPP_
#define CAFFE_SRC_CPU_ELTWISE_HPP_

#include <cstdint>
#include <span>

// Several arrays of n values combined value by value into one. The result may
// be the first array, but must not overlap the others.
namespace caffe::cpu {

template <typename Dtype>
void Sum(int64_t n, std::span<const Dtype* const> terms, Dtype* out);

// Sum of coefficients[k] * terms[k].
template <typename Dtype>
void WeightedSum(int64_t n, std::span<const Dtype* const> terms,
                 std::span<const Dtype> coefficients, Dtype* out);

template <typename Dtype>
void Product(int64_t n, std::span<const Dtype* const> factors, Dtype* out);

// Also writes which array held each maximum. Of equal values the second array
// goes before the first, and the earlier before the later otherwise.
template <typename Dtype>
void Maximum(int64_t n, std::span<const Dtype* const> arrays, Dtype* out,
             int* which);

// The gradient of array k in Maximum: the top's where which is k, or 0.
template <typename Dtype>
void MaximumBackward(int64_t n, int k, const int* which, const Dtype* top_diff,
                     Dtype* diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ELTWISE_HPP_
