#ifndef CAFFE_SRC_LAYERS_INDICES_HPP_
#define CAFFE_SRC_LAYERS_INDICES_HPP_

#include <vector>

#include "caffe/blob.hpp"

namespace caffe {

// The index that a floating-point number stands for, or -1 when it is none in
// [0, limit).
template <typename Dtype>
int ToIndex(Dtype value, int limit) {
  // False for values that are not numbers.
  const bool fits = value > Dtype(-1) && value < Dtype(limit);
  const int index = fits ? static_cast<int>(value) : -1;
  // A large limit may have been rounded up.
  return index < limit ? index : -1;
}

// A blob's values as indices. Throws Error for one that is not in [0, limit):
// they come from data sets and address memory. `of_what` tells what they are
// indices of.
template <typename Dtype>
vector<int> ReadIndices(const Blob<Dtype>& blob, int limit,
                        const char* of_what) {
  vector<int> indices(blob.count());
  const Dtype* const values = blob.cpu_data();
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = ToIndex(values[i], limit);
    if (indices[i] < 0) {
      Fail("index ", values[i], " (number ", i, ") is not one of the ", limit,
           " ", of_what);
    }
  }
  return indices;
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_INDICES_HPP_
