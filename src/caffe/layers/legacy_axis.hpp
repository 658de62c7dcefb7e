#ifndef CAFFE_SRC_LAYERS_LEGACY_AXIS_HPP_
#define CAFFE_SRC_LAYERS_LEGACY_AXIS_HPP_

#include <cstdint>

#include "caffe/blob.hpp"

namespace caffe {

// The axis of `blob` that a layer works along: its setting `axis`, or the
// older one (concat_dim, slice_dim), which does not count from the end.
// REQUIRES: not both are set.
template <typename Dtype>
int AxisOrLegacy(const Blob<Dtype>& blob, int axis, bool has_legacy,
                 uint32_t legacy) {
  if (!has_legacy) return blob.CanonicalAxisIndex(axis);
  Require(legacy < static_cast<uint32_t>(blob.num_axes()), "axis ", legacy,
          " is out of range for a blob of shape ", blob.shape_string());
  return static_cast<int>(legacy);
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_LEGACY_AXIS_HPP_
