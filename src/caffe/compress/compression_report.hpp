#ifndef CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_
#define CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "compress/verification.hpp"

namespace caffe {

// What the log of a run says of its compression.
class CompressionReport {
 public:
  // One line about what was packed since the last call: how large it was and
  // became, the worst error that was measured in all the run, and which part of
  // the time packing and restoring took.
  void LogProgress(const std::vector<ActivationReport>& activations);

 private:
  // What has been packed, and how long it took, up to some time.
  struct Totals {
    double raw = 0;
    double kept = 0;
    double seconds = 0;
    double worst = -1;
    std::chrono::steady_clock::time_point time;
  };
  static Totals TotalsOf(const std::vector<ActivationReport>& activations);

  Totals last_ = {.time = std::chrono::steady_clock::now()};
};

// The error of the gradient of a layer's weights, where it is known.
using SigmaOf = std::function<std::optional<GradientSigma>(int layer)>;

// A table of what became of every tensor, in a pass, under the layers whose
// Backward reads it.
void LogActivations(const std::vector<ActivationReport>& activations,
                    const std::vector<std::string>& layer_names,
                    const SigmaOf& sigma_of);

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_COMPRESSION_REPORT_HPP_
