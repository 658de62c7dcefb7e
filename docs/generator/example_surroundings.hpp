#ifndef CAFFE_DOCS_GENERATOR_EXAMPLE_SURROUNDINGS_HPP_
#define CAFFE_DOCS_GENERATOR_EXAMPLE_SURROUNDINGS_HPP_

#include <filesystem>
#include <string>
#include <vector>

#include "caffe/net.hpp"

namespace caffe {

// What docs/layers/examples.prototxt finds where it runs: the files that its
// data layers name, in a new folder that is the current one as long as this
// lives, and a class for its layer in Python.
class ExampleSurroundings {
 public:
  ExampleSurroundings();
  ~ExampleSurroundings();
  ExampleSurroundings(const ExampleSurroundings&) = delete;
  ExampleSurroundings& operator=(const ExampleSurroundings&) = delete;

  // Gives values to the inputs of the net, and images to its MemoryData layers.
  // They use this object's memory.
  void Feed(Net<float>* net);

 private:
  const std::filesystem::path folder_before_;
  std::string folder_;
  std::vector<float> images_;
  std::vector<float> labels_;
};

}  // namespace caffe

#endif  // CAFFE_DOCS_GENERATOR_EXAMPLE_SURROUNDINGS_HPP_
