#ifndef CAFFE_SRC_CPU_TOP_VALUES_HPP_
#define CAFFE_SRC_CPU_TOP_VALUES_HPP_

#include <cstdint>

namespace caffe::cpu {

// The k largest of the values along the middle axis of (outer, values, inner)
// arrays, the largest first. Of equal ones that with the higher index goes
// first; what is not a number goes last.
//
// Their indices go into `indices` and they themselves into `found`, arrays of
// (k, inner) values for each of the outer items, `step` values apart; either
// may be nullptr.
// REQUIRES: k <= values.
template <typename Dtype>
void TopValues(int64_t outer, int64_t values, int64_t inner, int64_t k,
               const Dtype* in, int64_t step, Dtype* indices, Dtype* found);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_TOP_VALUES_HPP_
