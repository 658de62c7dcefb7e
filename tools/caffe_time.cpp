#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe_commands.hpp"

namespace caffe {

namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Runs the work and adds the milliseconds it takes to both sums.
template <typename Work>
void Measure(const Work& work, double* layer, double* pass) {
  const Clock::time_point start = Clock::now();
  work();
  const double milliseconds = MillisecondsSince(start);
  *layer += milliseconds;
  *pass += milliseconds;
}

void LogLayer(const string& name, size_t width, const char* direction,
              double milliseconds) {
  char line[64];
  std::snprintf(line, sizeof(line), "\t%-9s %10.3f ms.", direction,
                milliseconds);
  LOG(INFO) << string(width - name.size(), ' ') << name << line;
}

}  // namespace

int Time() {
  if (!FLAGS_solver.empty()) return TimeTraining();
  Require(!FLAGS_model.empty(),
          "time needs a net: --model=FILE, or a solver: --solver=FILE (caffe "
          "time --help tells more)");
  CheckIterations();
  const Phase phase = PhaseFromFlags(TRAIN);
  ChooseDevice(/*wants_gpu=*/false);
  const vector<string> stages = SplitAtCommas(FLAGS_stage);
  Net<float> net(FLAGS_model, phase, FLAGS_level, &stages);

  // The first pass allocates.
  LOG(INFO) << "Performing Forward";
  float initial_loss;
  net.Forward(&initial_loss);
  LOG(INFO) << "Initial loss: " << initial_loss;
  LOG(INFO) << "Performing Backward";
  net.Backward();

  LOG(INFO) << "*** Benchmark begins ***";
  LOG(INFO) << "Testing for " << FLAGS_iterations << " iterations.";
  const int layers = static_cast<int>(net.layers().size());
  vector<double> forward_of(layers);
  vector<double> backward_of(layers);
  double forward = 0;
  double backward = 0;
  const Clock::time_point start = Clock::now();
  for (int iteration = 0; iteration < FLAGS_iterations; ++iteration) {
    const Clock::time_point iteration_start = Clock::now();
    for (int i = 0; i < layers; ++i) {
      Measure([&] { net.ForwardFromTo(i, i); }, &forward_of[i], &forward);
    }
    for (int i = layers - 1; i >= 0; --i) {
      Measure([&] { net.BackwardFromTo(i, i); }, &backward_of[i], &backward);
    }
    LOG(INFO) << "Iteration: " << iteration + 1 << " forward-backward time: "
              << MillisecondsSince(iteration_start) << " ms.";
  }
  const double total = MillisecondsSince(start);

  LOG(INFO) << "Average time per layer: ";
  size_t width = 10;
  for (const string& name : net.layer_names()) {
    width = std::max(width, name.size());
  }
  for (int i = 0; i < layers; ++i) {
    const string& name = net.layer_names()[i];
    LogLayer(name, width, "forward:", forward_of[i] / FLAGS_iterations);
    LogLayer(name, width, "backward:", backward_of[i] / FLAGS_iterations);
  }
  LOG(INFO) << "Average Forward pass: " << forward / FLAGS_iterations << " ms.";
  LOG(INFO) << "Average Backward pass: " << backward / FLAGS_iterations
            << " ms.";
  LOG(INFO) << "Average Forward-Backward: " << total / FLAGS_iterations
            << " ms.";
  LOG(INFO) << "Total Time: " << total << " ms.";
  LOG(INFO) << "*** Benchmark ends ***";
  return 0;
}

}  // namespace caffe
