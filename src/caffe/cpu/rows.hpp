#ifndef CAFFE_SRC_CPU_ROWS_HPP_
#define CAFFE_SRC_CPU_ROWS_HPP_

#include <cstdint>
#include <span>

// Rows of a matrix, `width` values each, that are picked by their indices. The
// matrices must not overlap.
namespace caffe::cpu {

// Row i of `out` is row rows[i] of `in`.
template <typename Dtype>
void PickRows(std::span<const int> rows, int64_t width, const Dtype* in,
              Dtype* out);

// Adds row i of `in` to row rows[i] of `out`. An index may be there more than
// once; the result does not depend on the number of threads.
template <typename Dtype>
void AddToRows(std::span<const int> rows, int64_t width, const Dtype* in,
               Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ROWS_HPP_
