#ifndef CAFFE_SRC_LAYERS_LABELS_HPP_
#define CAFFE_SRC_LAYERS_LABELS_HPP_

#include <optional>
#include <vector>

#include "caffe/blob.hpp"

namespace caffe {

// What ReadLabels gives for ignored labels.
constexpr int kNoLabel = -1;

// Class labels as integers; blobs hold them as floating-point numbers. Throws
// Error for one that is neither `ignored` nor in [0, classes): labels come
// from data sets and index memory.
template <typename Dtype>
vector<int> ReadLabels(const Blob<Dtype>& blob, int classes,
                       std::optional<int> ignored) {
  vector<int> labels(blob.count());
  const Dtype* const values = blob.cpu_data();
  for (size_t i = 0; i < labels.size(); ++i) {
    const Dtype value = values[i];
    if (ignored && value == static_cast<Dtype>(*ignored)) {
      labels[i] = kNoLabel;
      continue;
    }
    // Also false for values that are not numbers.
    const bool is_class = value > Dtype(-1) && value < Dtype(classes);
    if (!is_class) {
      Fail("label ", value, " (number ", i, " of the batch) is not one of the ",
           classes, " classes 0 to ", classes - 1);
    }
    labels[i] = static_cast<int>(value);
  }
  return labels;
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_LABELS_HPP_
