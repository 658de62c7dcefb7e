#include <chrono>
#include <cstdio>
#include <memory>

#include "activation_dump.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe/util/signal_handler.h"
#include "caffe/util/upgrade_proto.hpp"
#include "caffe_commands.hpp"
#include "report/run_log.hpp"
#include "report/tensorboard.hpp"
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
class TrainingLine : public SolverObserver {
 public:
  explicit TrainingLine(Solver<float>* solver) : solver_(solver) {
    if (line_.is_terminal()) solver->add_observer(this);
  }

  void OnIterationStart() override {
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

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSecondsBetween = 0.25;

  static double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
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
                  iterations_per_second_ * solver_->images_per_iteration(),
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
  Require(!FLAGS_tensorboard || !FLAGS_run_dir.empty(),
          "--tensorboard needs a folder: --run_dir=FOLDER");
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

// The log of the run and the curves for TensorBoard, where flags ask for them.
class RunRecords {
 public:
  RunRecords(const SolverParameter& param, Solver<float>* solver) {
    if (FLAGS_run_dir.empty()) return;
    CopyPrototxts(param, FLAGS_run_dir);
    log_ = std::make_unique<RunLog>(FLAGS_run_dir, gflags::GetArgv(), solver);
    if (!FLAGS_tensorboard) return;
    curves_ =
        std::make_unique<TensorBoardWriter>(FLAGS_run_dir, solver->iter());
    solver->add_observer(curves_.get());
  }

  void WriteEnd(const string& outcome, const string& reason) {
    if (log_) log_->WriteEnd(outcome, reason);
  }

 private:
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<TensorBoardWriter> curves_;
};

void Solve(Solver<float>* solver, RunRecords* records) {
  TrainingLine line(solver);
  try {
    solver->Solve();
  } catch (const std::exception& error) {
    records->WriteEnd("failed", error.what());
    throw;
  }
  const bool is_done = solver->iter() >= solver->param().max_iter();
  records->WriteEnd(is_done ? "done" : "stopped", "");
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
  RunRecords records(param, solver.get());

  LOG(INFO) << "Starting Optimization";
  Solve(solver.get(), &records);
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
