#ifndef CAFFE_TOOLS_MEMORY_MEASUREMENT_HPP_
#define CAFFE_TOOLS_MEMORY_MEASUREMENT_HPP_

#include <cstddef>
#include <map>
#include <string>

#include "caffe/proto/caffe.pb.h"

namespace caffe {

// What one iteration of training took.
struct Measurement {
  // How many times smaller packed tensors became, and all together.
  std::map<std::string, double> ratios;
  double ratio = 1;
  // In bytes: for kernels; of the process without any buffer that the ledger
  // knows; of the process, all included, at its peak.
  size_t workspace = 0;
  size_t program = 0;
  size_t process = 0;

  double RatioOf(const std::string& tensor) const {
    const auto found = ratios.find(tensor);
    return found == ratios.end() ? ratio : found->second;
  }
};

// Runs one iteration in a process of its own. Throws Error when that fails.
// REQUIRES: this process has only one thread.
Measurement MeasureIteration(const SolverParameter& param);

}  // namespace caffe

#endif  // CAFFE_TOOLS_MEMORY_MEASUREMENT_HPP_
