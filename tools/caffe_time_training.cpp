#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "caffe_commands.hpp"
#include "tool.hpp"

namespace caffe {

namespace {

// Memory comes into being, and bounds are assessed in most of them, as they are
// in few others of a long training.
constexpr int kFirstIterations = 5;

// Nothing but iterations: tests, snapshots and displays take time of their own.
SolverParameter OnlyIterations(SolverParameter param) {
  param.clear_test_iter();
  param.clear_test_interval();
  param.clear_test_net();
  param.clear_test_net_param();
  param.clear_test_state();
  param.set_test_initialization(false);
  param.set_display(0);
  param.set_snapshot(0);
  param.set_snapshot_after_train(false);
  return param;
}

// Trains, and remembers how long every iteration took.
class TimedSolver {
 public:
  explicit TimedSolver(const SolverParameter& param)
      : solver_(SolverRegistry<float>::CreateSolver(param)) {}

  void Step() {
    const auto start = std::chrono::steady_clock::now();
    solver_->Step(1);
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    if (solver_->iter() > kFirstIterations) times_.push_back(time.count());
  }

  // In milliseconds.
  double Median() const {
    const std::vector<double> sorted = Sorted();
    const size_t n = sorted.size();
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

  // With the fastest and the slowest.
  std::string Summary() const {
    const std::vector<double> sorted = Sorted();
    char text[96];
    std::snprintf(text, sizeof(text), "%.1f ms (%.1f to %.1f).", Median(),
                  sorted.front(), sorted.back());
    return text;
  }

 private:
  std::vector<double> Sorted() const {
    std::vector<double> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  const std::unique_ptr<Solver<float>> solver_;
  std::vector<double> times_;
};

}  // namespace

int TimeTraining() {
  Require(FLAGS_model.empty(),
          "time takes a net (--model) or a solver (--solver), not both");
  CheckIterations();
  SolverParameter param;
  ReadSolverParamsFromTextFileOrDie(FLAGS_solver, &param);
  ApplyCompressionFlag(&param);
  param = OnlyIterations(param);
  // The batch must stay the same for both.
  param.mutable_compression()->clear_batch_size();
  SolverParameter plain = param;
  plain.clear_compression();
  ChooseDevice(/*wants_gpu=*/false);

  TimedSolver without(plain);
  TimedSolver with(param);
  Progress progress("iterations", 2 * (FLAGS_iterations + kFirstIterations));
  for (int i = 0; i < FLAGS_iterations + kFirstIterations; ++i) {
    // In turn, so that whatever else the machine does slows both down.
    without.Step();
    with.Step();
    progress.Add(2);
  }
  progress.Finish();

  LOG(INFO) << "Median of " << FLAGS_iterations
            << " iterations, without and with compression in turn:";
  LOG(INFO) << "    without: " << without.Summary();
  LOG(INFO) << "    with:    " << with.Summary();
  char ratio[32];
  std::snprintf(ratio, sizeof(ratio), "%.3f", with.Median() / without.Median());
  LOG(INFO) << "    ratio:   " << ratio;
  return 0;
}

}  // namespace caffe
