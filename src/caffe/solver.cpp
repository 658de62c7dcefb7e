#include "caffe/solver.hpp"

#include <algorithm>

#include "caffe/util/upgrade_proto.hpp"
#include "compress/solver_compression.hpp"

namespace caffe {

namespace {

// " (* 0.5 = 1.2 loss)" after an output that counts as loss.
template <typename Dtype>
string LossMessage(Dtype weight, Dtype value) {
  return weight == 0 ? string()
                     : Concat(" (* ", weight, " = ", weight * value, " loss)");
}

// Of a net that outputs whole activations, a few tell enough.
constexpr size_t kMostReportedOutputs = 100;

template <typename Dtype>
NetOutput OutputOf(const Net<Dtype>& net, int output, int index, double value) {
  const int blob_id = net.output_blob_indices()[output];
  const bool is_one_of_many = index > 0 || net.blobs()[blob_id]->count() > 1;
  return {net.blob_names()[blob_id] +
              (is_one_of_many ? Concat("[", index, "]") : string()),
          value, net.blob_loss_weights()[blob_id]};
}

template <typename Dtype>
vector<NetOutput> OutputsOf(const Net<Dtype>& net) {
  vector<NetOutput> outputs;
  for (int i = 0; i < net.num_outputs(); ++i) {
    const Blob<Dtype>& blob = *net.output_blobs()[i];
    for (int k = 0; k < blob.count(); ++k) {
      if (outputs.size() == kMostReportedOutputs) return outputs;
      outputs.push_back(OutputOf(net, i, k, blob.cpu_data()[k]));
    }
  }
  return outputs;
}

template <typename Dtype>
void LogTrainOutputs(const Net<Dtype>& net) {
  const vector<Blob<Dtype>*>& outputs = net.output_blobs();
  int number = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int blob_id = net.output_blob_indices()[i];
    const Dtype weight = net.blob_loss_weights()[blob_id];
    const Dtype* const values = outputs[i]->cpu_data();
    for (int k = 0; k < outputs[i]->count(); ++k) {
      LOG(INFO) << "    Train net output #" << number++ << ": "
                << net.blob_names()[blob_id] << " = " << values[k]
                << LossMessage(weight, values[k]);
    }
  }
}

// Sums of every value a test net outputs, in the order of its outputs.
template <typename Dtype>
class TestScores {
 public:
  explicit TestScores(const Net<Dtype>& net) : net_(net) {}

  void Add(Dtype loss, const vector<Blob<Dtype>*>& outputs) {
    ++batches_;
    loss_ += loss;
    size_t number = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Dtype* const values = outputs[i]->cpu_data();
      for (int k = 0; k < outputs[i]->count(); ++k, ++number) {
        // A later batch may have more outputs than the first.
        if (number == sums_.size()) {
          sums_.push_back(0);
          output_ids_.push_back(static_cast<int>(i));
          indices_.push_back(k);
        }
        sums_[number] += values[k];
      }
    }
  }

  TestReport Report(int iteration, int net_id, bool with_loss) const {
    TestReport report;
    report.iteration = iteration;
    report.net = net_id;
    if (with_loss && batches_ > 0) report.loss = loss_ / batches_;
    const size_t count = std::min(sums_.size(), kMostReportedOutputs);
    for (size_t i = 0; i < count; ++i) {
      report.outputs.push_back(
          OutputOf(net_, output_ids_[i], indices_[i], sums_[i] / batches_));
    }
    return report;
  }

  void Log(bool with_loss) const {
    if (with_loss && batches_ > 0)
      LOG(INFO) << "Test loss: " << loss_ / batches_;
    for (size_t i = 0; i < sums_.size(); ++i) {
      const int blob_id = net_.output_blob_indices()[output_ids_[i]];
      const Dtype mean = sums_[i] / batches_;
      LOG(INFO) << "    Test net output #" << i << ": "
                << net_.blob_names()[blob_id] << " = " << mean
                << LossMessage(net_.blob_loss_weights()[blob_id], mean);
    }
  }

 private:
  const Net<Dtype>& net_;
  int batches_ = 0;
  Dtype loss_ = 0;
  vector<Dtype> sums_;
  vector<int> output_ids_;
  // Of the values in their blobs.
  vector<int> indices_;
};

}  // namespace

template <typename Dtype>
Solver<Dtype>::Solver(const SolverParameter& param) {
  Init(param);
}

template <typename Dtype>
Solver<Dtype>::Solver(const string& param_file) {
  SolverParameter param;
  ReadSolverParamsFromTextFileOrDie(param_file, &param);
  Init(param);
}

template <typename Dtype>
void Solver<Dtype>::Init(const SolverParameter& param) {
  LOG_IF(INFO, Caffe::root_solver())
      << "Initializing solver from parameters: \n"
      << param.DebugString();
  param_ = param;
  Require(param_.average_loss() >= 1, "average_loss must be at least 1, not ",
          param_.average_loss());
  Require(param_.iter_size() >= 1, "iter_size must be at least 1, not ",
          param_.iter_size());
  CheckSnapshotWritePermissions();
  if (param_.random_seed() >= 0) {
    // Parallel solvers must not all draw the same.
    Caffe::set_random_seed(
        static_cast<unsigned int>(param_.random_seed() + Caffe::solver_rank()));
  }
  InitTrainNet();
  InitTestNets();
  compression_ = SolverCompression<Dtype>::Make(this);
  iter_ = 0;
  current_step_ = 0;
  ResetPace();
  LOG_IF(INFO, Caffe::root_solver()) << "Solver scaffolding done.";
}

template <typename Dtype>
void Solver<Dtype>::SetActionFunction(ActionCallback func) {
  action_request_function_ = std::move(func);
}

template <typename Dtype>
SolverAction::Enum Solver<Dtype>::GetRequestedAction() {
  return action_request_function_ ? action_request_function_()
                                  : SolverAction::NONE;
}

template <typename Dtype>
void Solver<Dtype>::Solve(const char* resume_file) {
  CHECK(Caffe::root_solver());
  LOG(INFO) << "Solving " << net_->name();
  LOG(INFO) << "Learning Rate Policy: " << param_.lr_policy();
  if (param_.snapshot_after_train()) ProbeSnapshots();
  if (resume_file != nullptr) Restore(resume_file);

  const int start_iter = iter_;
  Step(param_.max_iter() - iter_);
  // Unless Step has just done so.
  if (param_.snapshot_after_train() && !IsAtMultipleOf(param_.snapshot())) {
    Snapshot();
  }
  if (compression_) compression_->LogTable();
  if (requested_early_exit_) {
    LOG(INFO) << "Optimization stopped early.";
    return;
  }
  // Iterations display and test before they update, so the last update has
  // been neither displayed nor tested.
  if (IsAtMultipleOf(param_.display())) {
    Dtype loss;
    net_->Forward(&loss);
    UpdateSmoothedLoss(loss, start_iter, param_.average_loss());
    LOG(INFO) << "Iteration " << iter_ << ", loss = " << smoothed_loss_;
    ReportDisplay(loss, 0);
  }
  if (IsAtMultipleOf(param_.test_interval())) {
    TestAll();
  }
  LOG(INFO) << "Optimization Done.";
}

template <typename Dtype>
void Solver<Dtype>::Step(int iters) {
  const int start_iter = iter_;
  const int stop_iter = iter_ + iters;
  if (!losses_restored_) {
    losses_.clear();
    smoothed_loss_ = 0;
  }
  losses_restored_ = false;
  requested_early_exit_ = false;
  last_display_ = std::chrono::steady_clock::now();
  last_display_iter_ = iter_;
  while (iter_ < stop_iter) {
    net_->ClearParamDiffs();
    const bool tests_are_due = IsAtMultipleOf(param_.test_interval()) &&
                               (iter_ > 0 || param_.test_initialization());
    if (tests_are_due && Caffe::root_solver()) {
      TestAll();
      if (requested_early_exit_) return;
    }
    ChooseBatch(stop_iter);
    TellObservers([](SolverObserver* o) { o->OnIterationStart(); });
    Iterate(start_iter);
    TellObservers([](SolverObserver* o) { o->OnIterationEnd(); });
    // Whoever updates by hand afterwards means it.
    is_updated_ = false;
    Advance();

    const SolverAction::Enum request = GetRequestedAction();
    const bool snapshot_is_due =
        IsAtMultipleOf(param_.snapshot()) && Caffe::root_solver();
    if (snapshot_is_due || request == SolverAction::SNAPSHOT) Snapshot();
    if (request == SolverAction::STOP) {
      requested_early_exit_ = true;
      return;
    }
  }
}

template <typename Dtype>
void Solver<Dtype>::Iterate(int start_iter) {
  for (Callback* callback : callbacks_) callback->on_start();
  const bool display = IsDueEvery(param_.display());
  net_->set_debug_info(display && param_.debug_info());

  is_updated_ = compression_ != nullptr && CanUpdateInBackward();
  Dtype loss = 0;
  for (int i = 0; i < param_.iter_size(); ++i) {
    Dtype pass_loss;
    net_->Forward(&pass_loss);
    if (compression_ && !compression_->BeforeBackward(pass_loss)) return;
    Backward();
    loss += pass_loss;
  }
  loss /= param_.iter_size();
  UpdateSmoothedLoss(loss, start_iter, param_.average_loss());
  if (display && Caffe::root_solver()) DisplayIteration(loss);
  if (compression_ && !compression_->BeforeUpdate()) return;

  for (Callback* callback : callbacks_) callback->on_gradients_ready();
  ApplyUpdate();
}

template <typename Dtype>
bool Solver<Dtype>::CanUpdateInBackward() const {
  const bool has_own_callbacks_only = std::all_of(
      callbacks_.begin(), callbacks_.end(),
      [&](const Callback* callback) { return callback == compression_.get(); });
  return CanUpdateOneByOne() && has_own_callbacks_only &&
         param_.iter_size() == 1 && param_.clip_gradients() < 0 &&
         !param_.debug_info() && !param_.snapshot_diff();
}

template <typename Dtype>
void Solver<Dtype>::Backward() {
  if (!is_updated_) {
    net_->Backward();
    return;
  }
  const auto update = [this](const ParamSlice<Dtype>& slice) {
    compression_->CollectMomentum(slice);
    if (!compression_->BeforeUpdateOf(slice)) return false;
    UpdateParameter(slice);
    return true;
  };
  compression_->updates().RunBackward(update,
                                      !compression_->needs_whole_gradients());
}

template <typename Dtype>
void Solver<Dtype>::DisplayIteration(Dtype loss) {
  const auto now = std::chrono::steady_clock::now();
  const float seconds =
      std::chrono::duration<float>(now - last_display_).count();
  const float rate =
      (iter_ - last_display_iter_) / (seconds > 0 ? seconds : 1.F);
  LOG(INFO) << "Iteration " << iter_ << " (" << rate << " iter/s, " << seconds
            << "s/" << param_.display() << " iters), loss = " << smoothed_loss_;
  last_display_ = now;
  last_display_iter_ = iter_;
  LogTrainOutputs(*net_);
  ReportDisplay(loss, rate);
  if (compression_) compression_->LogProgress();
}

template <typename Dtype>
void Solver<Dtype>::ReportDisplay(Dtype loss,
                                  double iterations_per_second) const {
  if (!has_observers()) return;
  const DisplayReport display = {
      .iteration = iter_,
      .updates = updates_,
      .loss = loss,
      .smoothed_loss = smoothed_loss_,
      .learning_rate = CurrentRate(),
      .batch_size =
          batches() ? pace_.now * param_.iter_size() : images_per_iteration(),
      .images_per_second = iterations_per_second * images_per_iteration(),
      .outputs = OutputsOf(*net_)};
  TellObservers([&](SolverObserver* o) { o->OnDisplay(display); });
}

template <typename Dtype>
void Solver<Dtype>::UpdateSmoothedLoss(Dtype loss, int /*start_iter*/,
                                       int average_loss) {
  if (static_cast<int>(losses_.size()) < average_loss) {
    losses_.push_back(loss);
    const auto size = static_cast<Dtype>(losses_.size());
    smoothed_loss_ = (smoothed_loss_ * (size - 1) + loss) / size;
    return;
  }
  smoothed_loss_ += (loss - losses_.front()) / average_loss;
  losses_.erase(losses_.begin());
  losses_.push_back(loss);
}

template <typename Dtype>
void Solver<Dtype>::TestAll() {
  before_tests_ = CurrentState();
  for (size_t i = 0; i < test_nets_.size() && !requested_early_exit_; ++i) {
    Test(static_cast<int>(i));
  }
  if (!requested_early_exit_) before_tests_.reset();
}

template <typename Dtype>
void Solver<Dtype>::Test(const int test_net_id) {
  CHECK(Caffe::root_solver());
  LOG(INFO) << "Iteration " << iter_ << ", Testing net (#" << test_net_id
            << ")";
  Net<Dtype>* const net = test_nets_[test_net_id].get();
  net->ShareTrainedLayersWith(net_.get());
  TestScores<Dtype> scores(*net);
  for (int i = 0; i < param_.test_iter(test_net_id); ++i) {
    ServeRequests();
    if (requested_early_exit_) {
      LOG(INFO) << "Test interrupted.";
      return;
    }
    Dtype loss;
    const vector<Blob<Dtype>*>& outputs = net->Forward(&loss);
    scores.Add(loss, outputs);
  }
  scores.Log(param_.test_compute_loss());
  if (!has_observers()) return;
  const TestReport report =
      scores.Report(iter_, test_net_id, param_.test_compute_loss());
  TellObservers([&](SolverObserver* o) { o->OnTest(report); });
}

template <typename Dtype>
void Solver<Dtype>::ServeRequests() {
  while (!requested_early_exit_) {
    const SolverAction::Enum request = GetRequestedAction();
    if (request == SolverAction::NONE) return;
    if (request == SolverAction::SNAPSHOT) Snapshot();
    requested_early_exit_ = request == SolverAction::STOP;
  }
}

template class Solver<float>;
template class Solver<double>;

}  // namespace caffe
