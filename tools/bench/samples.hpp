#ifndef CAFFE_TOOLS_BENCH_SAMPLES_HPP_
#define CAFFE_TOOLS_BENCH_SAMPLES_HPP_

#include <string>
#include <vector>

#include "tensor_file.hpp"

namespace caffe {

struct Sample {
  std::string name;
  Tensor tensor;
};

// Tensors of about so many values that look like activations: smooth and
// rough ones, before and after a ReLU, on large and on small planes.
std::vector<Sample> GeneratedSamples(int64_t values);

}  // namespace caffe

#endif  // CAFFE_TOOLS_BENCH_SAMPLES_HPP_
