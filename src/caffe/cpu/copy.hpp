#ifndef CAFFE_SRC_CPU_COPY_HPP_
#define CAFFE_SRC_CPU_COPY_HPP_

#include <cstdint>

// Copies on all threads; `from` and `to` must not overlap.
namespace caffe::cpu {

template <typename Dtype>
void Copy(int64_t n, const Dtype* from, Dtype* to);

// Copies `rows` runs of `values` values. The beginnings of neighbouring runs
// are `from_step` and `to_step` values apart.
template <typename Dtype>
void CopyRows(int64_t rows, int64_t values, const Dtype* from,
              int64_t from_step, Dtype* to, int64_t to_step);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_COPY_HPP_
