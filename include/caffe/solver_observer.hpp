#ifndef CAFFE_SOLVER_OBSERVER_HPP_
#define CAFFE_SOLVER_OBSERVER_HPP_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe/compress/error_bound.hpp"

namespace caffe {

// A value that a net outputs. Blobs of several values have one for each, named
// "scores[2]".
struct NetOutput {
  std::string name;
  double value = 0;
  // Zero for an output that is no loss.
  double loss_weight = 0;
};

// An iteration that is displayed.
struct DisplayReport {
  int iteration = 0;
  int64_t updates = 0;
  double loss = 0;
  double smoothed_loss = 0;
  double learning_rate = 0;
  // Of this iteration, over iter_size.
  int batch_size = 0;
  // Since the last display; zero when nothing was trained since.
  double images_per_second = 0;
  std::vector<NetOutput> outputs;
};

// One test net, tested: means over its batches.
struct TestReport {
  int iteration = 0;
  int net = 0;
  // Where test_compute_loss asks for it.
  std::optional<double> loss;
  std::vector<NetOutput> outputs;
};

// What became of a tensor that the Backward of a layer reads, in some passes.
struct LayerInput {
  // Empty when no Backward reads the tensor.
  std::string layer;
  std::string tensor;
  // "packed", "mask", "raw" or "dropped", and with which codec and bound.
  std::string kept;
  std::string codec;
  double bound = 0;
  // The largest error over its bound; less than zero while none was measured.
  double worst = -1;
  // Another layer reads the same, and counts it.
  bool is_counted_before = false;
  // All added up over the passes.
  int64_t passes = 0;
  double raw_bytes = 0;
  double kept_bytes = 0;
  double pack_seconds = 0;
  double unpack_seconds = 0;
  // Of the gradient of the layer's weights, where it has been measured.
  std::optional<GradientSigma> sigma;
};

// What was packed since the last display.
struct CompressionProgress {
  int iteration = 0;
  double raw_bytes = 0;
  double packed_bytes = 0;
  // The largest error over its bound in all the run; less than zero while none
  // was measured.
  double worst = -1;
  // Of packing and unpacking, from 0 to 1.
  double share_of_time = 0;
  std::vector<LayerInput> inputs;
};

struct BatchSizeChange {
  int iteration = 0;
  int from = 0;
  int to = 0;
  std::string reason;
};

// Is told what a solver finds out, when it does; the log says the same in
// words. Unlike the solver's callbacks it looks at no gradients, so that these
// may be gone. Runs on the solver's thread.
class SolverObserver {
 public:
  virtual ~SolverObserver() = default;

  // Around every iteration, before forward and after the update.
  virtual void OnIterationStart() {}
  virtual void OnIterationEnd() {}
  virtual void OnDisplay(const DisplayReport& /*display*/) {}
  virtual void OnTest(const TestReport& /*test*/) {}
  virtual void OnCompression(const CompressionProgress& /*progress*/) {}
  virtual void OnBatchSize(const BatchSizeChange& /*change*/) {}
  // The guard of compression has found something, or is at ease again.
  virtual void OnAlarm(int /*iteration*/, const std::string& /*what*/) {}
  // A snapshot has been written.
  virtual void OnSnapshot(int /*iteration*/, const std::string& /*model*/) {}
};

}  // namespace caffe

#endif  // CAFFE_SOLVER_OBSERVER_HPP_
