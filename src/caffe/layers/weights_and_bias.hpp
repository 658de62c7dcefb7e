#ifndef CAFFE_SRC_LAYERS_WEIGHTS_AND_BIAS_HPP_
#define CAFFE_SRC_LAYERS_WEIGHTS_AND_BIAS_HPP_

#include <memory>
#include <vector>

#include "caffe/filler.hpp"

namespace caffe {

// Gives a layer its weights and, with bias_term, its bias, filled as its
// setting says; or, when the layer came with parameters, throws Error unless
// they have these shapes. Setting is the layer's own message.
template <typename Dtype, typename Setting>
void SetUpWeightsAndBias(const Setting& setting,
                         const vector<int>& weight_shape,
                         const vector<int>& bias_shape,
                         vector<shared_ptr<Blob<Dtype>>>* blobs) {
  const auto make = [&](const vector<int>& shape,
                        const FillerParameter& filler_param) {
    blobs->push_back(boost::make_shared<Blob<Dtype>>(shape));
    const std::unique_ptr<Filler<Dtype>> filler(GetFiller<Dtype>(filler_param));
    filler->Fill(blobs->back().get());
  };
  const auto check = [](const char* name, const vector<int>& shape,
                        const Blob<Dtype>& blob) {
    Require(blob.shape() == shape, name, " must have the shape ",
            Blob<int>(shape).shape_string(), ", not ", blob.shape_string());
  };
  const size_t count = setting.bias_term() ? 2 : 1;
  if (blobs->empty()) {
    make(weight_shape, setting.weight_filler());
    if (setting.bias_term()) make(bias_shape, setting.bias_filler());
    return;
  }
  Require(blobs->size() == count, "takes ", count, " parameter blob(s), not ",
          blobs->size());
  check("weights", weight_shape, *(*blobs)[0]);
  if (setting.bias_term()) check("bias", bias_shape, *(*blobs)[1]);
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_WEIGHTS_AND_BIAS_HPP_
