#ifndef CAFFE_SRC_CPU_BOX_HPP_
#define CAFFE_SRC_CPU_BOX_HPP_

#include <vector>

namespace caffe::cpu {

// A box of values inside an array, with one entry an axis: the extents of the
// array, where in it the box begins, and the extents of the box.
struct Box {
  std::vector<int> whole;
  std::vector<int> begin;
  std::vector<int> extent;
};

// Copies the box out of the array `whole`.
template <typename Dtype>
void ReadBox(const Box& box, const Dtype* whole, Dtype* values);

// Writes all of the array: the values of the box, and zeros around it.
template <typename Dtype>
void WriteBox(const Box& box, const Dtype* values, Dtype* whole);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_BOX_HPP_
