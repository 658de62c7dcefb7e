#ifndef CAFFE_SRC_LAYERS_LOSS_NORMALIZATION_HPP_
#define CAFFE_SRC_LAYERS_LOSS_NORMALIZATION_HPP_

#include <algorithm>

#include "caffe/proto/caffe.pb.h"

// What losses that have loss_param.normalization share.
namespace caffe {

// The mode that the settings ask for, perhaps by the older `normalize`;
// `otherwise` when they say nothing.
inline LossParameter_NormalizationMode NormalizationOf(
    const LossParameter& param, LossParameter_NormalizationMode otherwise) {
  if (param.has_normalization()) return param.normalization();
  if (!param.has_normalize()) return otherwise;
  return param.normalize() ? LossParameter::VALID : LossParameter::BATCH_SIZE;
}

// What the sum of losses is divided by, for `outer` items of `inner` positions
// each, of which `valid` are not ignored; -1 stands for all. At least 1: a
// batch without any valid position has loss 0.
template <typename Dtype>
Dtype LossNormalizer(LossParameter_NormalizationMode mode, int outer, int inner,
                     int valid) {
  Dtype normalizer = 1;
  switch (mode) {
    case LossParameter::FULL:
      normalizer = Dtype(outer) * inner;
      break;
    case LossParameter::VALID:
      normalizer = valid == -1 ? Dtype(outer) * inner : Dtype(valid);
      break;
    case LossParameter::BATCH_SIZE:
      normalizer = outer;
      break;
    case LossParameter::NONE:
      break;
  }
  return std::max(Dtype(1), normalizer);
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_LOSS_NORMALIZATION_HPP_
