#include <chrono>
#include <cstdio>
#include <memory>

#include "activation_dump.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe/util/signal_handler.h"
#include "caffe/util/upgrade_proto.hpp"
#include "caffe_commands.hpp"
#include "tool.hpp"

namespace caffe {

namespace {

SolverAction::Enum ActionFromFlag(const char* flag, const string& value) {
  if (value == "stop") return SolverAction::STOP;
  if (value == "snapshot") return SolverAction::SNAPSHOT;
  if (value == "none") return SolverAction::NONE;
  Fail("--", flag, " must be stop, snapshot or none, not '", value, "'");
}

// Shows, at the bottom of a terminal, how far training is.
class TrainingLine : public Solver<float>::Callback {
 public:
  explicit TrainingLine(Solver<float>* solver) : solver_(solver) {
    if (line_.is_terminal()) solver->add_callback(this);
  }

 protected:
  void on_start() override {
    if (start_iter_ < 0) {
      start_iter_ = shown_iter_ = solver_->iter();
      start_ = shown_ = Clock::now();
      return;
    }
    const double seconds = SecondsSince(shown_);
    if (seconds < kSecondsBetween) return;
    iterations_per_second_ = (solver_->iter() - shown_iter_) / seconds;
    shown_iter_ = solver_->iter();
    shown_ = Clock::now();
    line_.Show(Text());
  }
  void on_gradients_ready() override {}

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSecondsBetween = 0.25;

  static double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  // Images of one iteration: what the first layer gives, unless that changes.
  int BatchSize() {
    if (solver_->configured_batch_size() > 0) {
      return solver_->configured_batch_size() * solver_->param().iter_size();
    }
    const vector<Blob<float>*>& tops = solver_->net()->top_vecs()[0];
    const int images =
        tops.empty() || tops[0]->num_axes() == 0 ? 1 : tops[0]->shape(0);
    return images * solver_->param().iter_size();
  }

  string Text() {
    const int iter = solver_->iter();
    const int max_iter = solver_->param().max_iter();
    const auto* const sgd = dynamic_cast<SGDSolver<float>*>(solver_);
    // Unlike the speed, this counts tests and snapshots.
    const double seconds_each = SecondsSince(start_) / (iter - start_iter_);
    char text[256];
    std::snprintf(text, sizeof(text),
                  "iteration %d/%d, loss %.4g, lr %.4g, %.0f images/s, ETA %s, "
                  "%lld MB",
                  iter, max_iter, solver_->smoothed_loss(),
                  sgd != nullptr ? sgd->learning_rate() : 0.F,
                  iterations_per_second_ * BatchSize(),
                  ReadableTime((max_iter - iter) * seconds_each).c_str(),
                  static_cast<long long>(memory::ResidentInProcess() >> 20));
    return text;
  }

  Solver<float>* const solver_;
  LiveLine line_;
  int start_iter_ = -1;
  int shown_iter_ = 0;
  double iterations_per_second_ = 0;
  Clock::time_point start_;
  Clock::time_point shown_;
};

SolverParameter SolverFromFlags() {
  Require(!FLAGS_solver.empty(),
          "train needs a solver: --solver=FILE (caffe train --help tells "
          "more)");
  Require(FLAGS_snapshot.empty() || FLAGS_weights.empty(),
          "give --snapshot to resume or --weights to start from, but not both");
  Require(FLAGS_dump_at >= 0, "--dump_at must not be negative");
  Require(!FLAGS_dump_activations.empty() ||
              gflags::GetCommandLineFlagInfoOrDie("dump_at").is_default,
          "--dump_at needs a folder: --dump_activations=FOLDER");
  SolverParameter param;
  ReadSolverParamsFromTextFileOrDie(FLAGS_solver, &param);
  if (!gflags::GetCommandLineFlagInfoOrDie("level").is_default) {
    param.mutable_train_state()->set_level(FLAGS_level);
  }
  for (const string& stage : SplitAtCommas(FLAGS_stage)) {
    param.mutable_train_state()->add_stage(stage);
  }
  if (!FLAGS_weights.empty()) {
    param.clear_weights();
    param.add_weights(FLAGS_weights);
  }
  ApplyCompressionFlag(&param);
  return param;
}

void Resume(Solver<float>* solver) {
  if (FLAGS_snapshot != "auto") {
    LOG(INFO) << "Resuming from " << FLAGS_snapshot;
    solver->Restore(FLAGS_snapshot.c_str());
    return;
  }
  const string& prefix = solver->param().snapshot_prefix();
  Require(!prefix.empty(),
          "--snapshot=auto needs a snapshot_prefix in the solver's prototxt");
  if (solver->RestoreNewest()) {
    LOG(INFO) << "Resuming from iteration " << solver->iter();
  } else {
    LOG(INFO) << "No snapshot under " << prefix << " yet: starting from "
              << "scratch";
  }
}

// Null when --dump_activations does not ask for it.
std::unique_ptr<ActivationDump> DumpFromFlags(Solver<float>* solver) {
  if (FLAGS_dump_activations.empty()) return nullptr;
  return std::make_unique<ActivationDump>(solver, FLAGS_dump_activations,
                                          FLAGS_dump_at);
}

}  // namespace

int Train() {
  const SolverParameter param = SolverFromFlags();
  // Caffe, too, takes only a mode that is spelled out.
  ChooseDevice(param.has_solver_mode() &&
               param.solver_mode() == SolverParameter::GPU);
  SignalHandler signal_handler(
      ActionFromFlag("sigint_effect", FLAGS_sigint_effect),
      ActionFromFlag("sighup_effect", FLAGS_sighup_effect));

  const std::unique_ptr<Solver<float>> solver(
      SolverRegistry<float>::CreateSolver(param));
  solver->SetActionFunction(signal_handler.GetActionFunction());
  if (!FLAGS_snapshot.empty()) Resume(solver.get());
  const std::unique_ptr<ActivationDump> dump = DumpFromFlags(solver.get());

  LOG(INFO) << "Starting Optimization";
  {
    TrainingLine line(solver.get());
    solver->Solve();
  }
  if (dump && !dump->is_done()) {
    LOG(WARNING) << "Nothing is in " << FLAGS_dump_activations
                 << ": training ended at iteration " << solver->iter()
                 << " without iteration " << FLAGS_dump_at << " of --dump_at";
  }
  LOG(INFO) << "Memory at its peak, "
            << memory::Describe(memory::Ledger::Get().peak())
            << "; of the process: " << memory::PeakOfProcess() / 1000000
            << " MB";
  LOG(INFO) << "Optimization Done.";
  return 0;
}

}  // namespace caffe
