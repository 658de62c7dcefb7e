#ifndef CAFFE_SRC_CPU_REDUCTION_HPP_
#define CAFFE_SRC_CPU_REDUCTION_HPP_

#include <cstdint>

// Rows of values that become one number each. Results do not depend on the
// number of threads.
namespace caffe::cpu {

// What is added up: the values, their absolute values, or their squares.
enum class Addend { kValue, kAbsolute, kSquare };

// sums[r] = factor * sum over row r of `rows` rows of `width` values.
template <typename Dtype>
void SumRows(Addend addend, int64_t rows, int64_t width, Dtype factor,
             const Dtype* in, Dtype* sums);

// The gradient of that; `in` is not read for plain values.
template <typename Dtype>
void SumRowsBackward(Addend addend, int64_t rows, int64_t width, Dtype factor,
                     const Dtype* in, const Dtype* sums_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_REDUCTION_HPP_
