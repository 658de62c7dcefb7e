#ifndef CAFFE_SRC_LAYERS_LABELS_HPP_
#define CAFFE_SRC_LAYERS_LABELS_HPP_

#include <algorithm>
#include <optional>
#include <vector>

#include "caffe/blob.hpp"
#include "layers/indices.hpp"

namespace caffe {

// Throws Error unless there is a label for every position of the scores without
// their axis of classes.
template <typename Dtype>
void RequireLabels(const Blob<Dtype>& scores, int axis,
                   const Blob<Dtype>& labels) {
  const int positions = scores.count(0, axis) * scores.count(axis + 1);
  Require(positions == labels.count(), "scores of shape ",
          scores.shape_string(), " need ", positions,
          " labels (one for each position without axis ", axis, "), not ",
          labels.count());
}

// Throws Error unless there is one label for every item of the scores.
template <typename Dtype>
void RequireLabelPerItem(const Blob<Dtype>& scores, const Blob<Dtype>& labels) {
  Require(labels.count() == scores.shape(0), "scores of shape ",
          scores.shape_string(), " need one label for each of their ",
          scores.shape(0), " items, not ", labels.count());
}

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
    labels[i] = ToIndex(value, classes);
    if (labels[i] < 0) {
      Fail("label ", value, " (number ", i, " of the batch) is not one of the ",
           classes, " classes 0 to ", classes - 1);
    }
  }
  return labels;
}

// How many of them are not ignored.
inline int CountLabels(const vector<int>& labels) {
  const auto ignored = std::count(labels.begin(), labels.end(), kNoLabel);
  return static_cast<int>(labels.size() - ignored);
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_LABELS_HPP_
