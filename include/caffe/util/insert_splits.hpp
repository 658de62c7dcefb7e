#ifndef CAFFE_UTIL_INSERT_SPLITS_HPP_
#define CAFFE_UTIL_INSERT_SPLITS_HPP_

#include <string>

#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Copies a net and gives every top that is used more than once, as a bottom or
// as a loss, a Split layer with one copy for each use, so that the gradients
// of the uses add up. Throws Error for a bottom that no earlier layer makes.
void InsertSplits(const NetParameter& param, NetParameter* param_split);

// The Split layer behind top `blob_idx` of a layer; its first copy carries the
// loss weight, when there is one.
void ConfigureSplitLayer(const std::string& layer_name,
                         const std::string& blob_name, const int blob_idx,
                         const int split_count, const float loss_weight,
                         LayerParameter* split_layer_param);

// "blob_layer_idx_split" and "blob_layer_idx_split_k", where blob is the name
// of the top and layer that of its layer.
std::string SplitLayerName(const std::string& layer_name,
                           const std::string& blob_name, const int blob_idx);
std::string SplitBlobName(const std::string& layer_name,
                          const std::string& blob_name, const int blob_idx,
                          const int split_idx);

}  // namespace caffe

#endif  // CAFFE_UTIL_INSERT_SPLITS_HPP_
