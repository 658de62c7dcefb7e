#ifndef CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_
#define CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "caffe/solver_observer.hpp"
#include "compress/verification.hpp"

namespace caffe {

// The error of the gradient of a layer's weights, where it is known.
using SigmaOf = std::function<std::optional<GradientSigma>(int layer)>;

// What became of every tensor, under the layers whose Backward reads it.
std::vector<LayerInput> InputsOf(
    const std::vector<ActivationReport>& activations,
    const std::vector<std::string>& layer_names, const SigmaOf& sigma_of);

// What has been packed from one display to the next.
class CompressionReport {
 public:
  // Since the last call; all but its iteration and inputs.
  CompressionProgress Next(const std::vector<ActivationReport>& activations);
  // What each tensor has added in the time of the last Next().
  const std::vector<ActivationReport>& added() const { return added_; }

 private:
  std::map<std::string, ActivationReport> before_;
  std::vector<ActivationReport> added_;
  std::chrono::steady_clock::time_point time_ =
      std::chrono::steady_clock::now();
};

// One line: how large what was packed was and became, the worst error that was
// measured in all the run, and which part of the time packing and restoring
// took. Nothing when nothing was packed.
void LogProgress(const CompressionProgress& progress);

// A table of what became of every tensor, in a pass.
void LogInputs(const std::vector<LayerInput>& inputs);

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_
