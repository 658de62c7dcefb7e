#ifndef CAFFE_NAMING_LAYER_HPP_
#define CAFFE_NAMING_LAYER_HPP_

#include <string>

#include "caffe/error.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// "layer 'conv1' (Convolution)": how errors and the user speak of a layer.
inline std::string LayerTitle(const LayerParameter& layer) {
  return Concat("layer '", layer.name(), "' (", layer.type(), ")");
}

// Does the work of a layer, and puts the layer's title in front of any Error
// that comes out of it. Costs nothing when none does.
template <typename Work>
auto NamingLayer(const LayerParameter& layer, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    Fail(LayerTitle(layer), ": ", error.what());
  }
}

}  // namespace caffe

#endif  // CAFFE_NAMING_LAYER_HPP_
