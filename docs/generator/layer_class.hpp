#ifndef CAFFE_DOCS_GENERATOR_LAYER_CLASS_HPP_
#define CAFFE_DOCS_GENERATOR_LAYER_CLASS_HPP_

#include <set>
#include <string>

namespace caffe {

// What the sources say of a layer.
struct LayerClass {
  // "caffe/layers/conv_layer.hpp".
  std::string header;
  // The comment of the class, as Markdown.
  std::string comment;
  // The fields of LayerParameter that it reads, or its base classes do, such as
  // "convolution_param".
  std::set<std::string> settings;
};

// Throws Error when no header under the project's include/caffe/layers has the
// class, or the class no comment.
LayerClass ReadLayerClass(const std::string& project,
                          const std::string& class_name);

}  // namespace caffe

#endif  // CAFFE_DOCS_GENERATOR_LAYER_CLASS_HPP_
