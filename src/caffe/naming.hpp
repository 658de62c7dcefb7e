#ifndef CAFFE_NAMING_HPP_
#define CAFFE_NAMING_HPP_

#include <string>

#include "caffe/error.hpp"
#include "caffe/proto/caffe.pb.h"

// Errors are thrown where the cause is known; whoever knows what was being
// worked on puts its name in front.

namespace caffe {

// Does the work, and puts what `name` returns in front of any Error that comes
// out of it. Costs nothing when none does.
template <typename Name, typename Work>
auto Naming(const Name& name, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    Fail(name(), ": ", error.what());
  }
}

// "layer 'conv1' (Convolution)": how errors speak of a layer.
inline std::string LayerTitle(const LayerParameter& layer) {
  return Concat("layer '", layer.name(), "' (", layer.type(), ")");
}

template <typename Work>
auto NamingLayer(const LayerParameter& layer, const Work& work) {
  return Naming([&] { return LayerTitle(layer); }, work);
}

template <typename Work>
auto NamingFile(const std::string& filename, const Work& work) {
  return Naming([&] { return filename; }, work);
}

}  // namespace caffe

#endif  // CAFFE_NAMING_HPP_
