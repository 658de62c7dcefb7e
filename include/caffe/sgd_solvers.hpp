#ifndef CAFFE_SGD_SOLVERS_HPP_
#define CAFFE_SGD_SOLVERS_HPP_

#include <string>
#include <vector>

#include "caffe/solver.hpp"

namespace caffe {

template <typename Dtype>
class PackedHistory;

// Stochastic gradient descent with momentum, and the base of all solvers that
// differ in how they make an update of a gradient. Below, g is a gradient
// (clipped, averaged over iter_size, with weight decay), h a history that
// starts as zeros, and rate the learning rate times the parameter's lr_mult;
// the update is subtracted.
//
//   h = momentum h + rate g;  update = h
//
// A subclass overrides ComputeUpdateValue, which turns the diff of one
// parameter, a gradient, into its update.
template <typename Dtype>
class SGDSolver : public Solver<Dtype> {
 public:
  explicit SGDSolver(const SolverParameter& param) : Solver<Dtype>(param) {
    PreSolve();
  }
  explicit SGDSolver(const string& param_file) : Solver<Dtype>(param_file) {
    PreSolve();
  }
  const char* type() const override { return "SGD"; }

  // One blob a learnable parameter, in the same order; some solvers need a
  // second, and put it behind the first ones of all parameters. Those that are
  // packed between updates are unpacked when somebody reads them.
  const vector<shared_ptr<Blob<Dtype>>>& history() { return history_; }
  // What a history blob takes between updates.
  size_t HistoryBytes(int index) const;

  void ApplyUpdate() override;
  // The rate of this iteration by lr_policy.
  Dtype GetLearningRate();
  // The rate of the last update.
  Dtype learning_rate() const { return learning_rate_; }
  double CurrentRate() const override;
  double MeanMomentum(int param_id) override;

 protected:
  void PreSolve();
  // Appends a blob of zeros for every learnable parameter.
  void AddHistory();

  // The steps from gradients to updates: scaled down to a norm of
  // clip_gradients, all at once; then, parameter by parameter, averaged over
  // iter_size, with weight decay added, and turned into the update.
  virtual void ClipGradients();
  virtual void Normalize(int param_id);
  virtual void Regularize(int param_id);
  virtual void ComputeUpdateValue(int param_id, Dtype rate);

  // Some values of a parameter, their gradient, which becomes their update, and
  // their history; the second where the solver has one.
  struct Values {
    int param_id = 0;
    int count = 0;
    Dtype* data = nullptr;
    Dtype* diff = nullptr;
    Dtype* history = nullptr;
    Dtype* history2 = nullptr;
  };
  // What ComputeUpdateValue does, with some values.
  virtual void ComputeUpdateOf(const Values& values, Dtype rate);

  // True for the solvers below: subclasses may do more in any step.
  bool CanUpdateOneByOne() const override;
  void UpdateParameter(const ParamSlice<Dtype>& slice) override;

  void SnapshotSolverState(const string& model_filename) override;
  virtual void SnapshotSolverStateToBinaryProto(const string& model_filename);
  virtual void SnapshotSolverStateToHDF5(const string& model_filename);
  void RestoreSolverStateFromHDF5(const string& state_file) override;
  void RestoreSolverStateFromBinaryProto(const string& state_file) override;

  vector<shared_ptr<Blob<Dtype>>> history_;
  // Scratch of solvers written for Caffe, shaped as the first history blobs.
  // Nothing here touches them, so they take no memory.
  vector<shared_ptr<Blob<Dtype>>> update_;
  vector<shared_ptr<Blob<Dtype>>> temp_;

 private:
  // How many steps of the rate there are up to this iteration, and the rate.
  int NextStep() const;
  Dtype RateAtStep(int step) const;
  ParamSlice<Dtype> WholeOf(int param_id) const;
  // Calls work(values) until it has seen all of the slice, with histories that
  // it may change; perhaps on several threads.
  template <typename Work>
  void WithHistory(const ParamSlice<Dtype>& slice, const Work& work);
  // All steps after ClipGradients, and the update itself.
  void UpdateValues(const Values& values, Dtype rate);
  // Packs a history blob, if it is one that is to be; null for others.
  PackedHistory<Dtype>* PackHistory(int index);
  bool IsPacked(int index) const;
  // Throws Error unless a state with that many history blobs can be this
  // solver's.
  void RequireHistoryOf(const string& state_file, int64_t size) const;

  Dtype learning_rate_ = 0;
  // One for every history blob, null for those that are not packed.
  vector<shared_ptr<PackedHistory<Dtype>>> packed_;

  DISABLE_COPY_AND_ASSIGN(SGDSolver);
};

// Nesterov's accelerated gradient:
//
//   h' = momentum h + rate g;  update = (1 + momentum) h' - momentum h
template <typename Dtype>
class NesterovSolver : public SGDSolver<Dtype> {
 public:
  using SGDSolver<Dtype>::SGDSolver;
  const char* type() const override { return "Nesterov"; }

 protected:
  void ComputeUpdateOf(const typename SGDSolver<Dtype>::Values& values,
                       Dtype rate) override;

  DISABLE_COPY_AND_ASSIGN(NesterovSolver);
};

// Adaptive gradients; takes no momentum:
//
//   h = h + g^2;  update = rate g / (sqrt(h) + delta)
template <typename Dtype>
class AdaGradSolver : public SGDSolver<Dtype> {
 public:
  explicit AdaGradSolver(const SolverParameter& param);
  explicit AdaGradSolver(const string& param_file);
  const char* type() const override { return "AdaGrad"; }
  double MeanMomentum(int /*param_id*/) override { return 0; }

 protected:
  void ComputeUpdateOf(const typename SGDSolver<Dtype>::Values& values,
                       Dtype rate) override;
  void constructor_sanity_check();

  DISABLE_COPY_AND_ASSIGN(AdaGradSolver);
};

// Takes no momentum:
//
//   h = rms_decay h + (1 - rms_decay) g^2;  update = rate g / (sqrt(h) + delta)
template <typename Dtype>
class RMSPropSolver : public SGDSolver<Dtype> {
 public:
  explicit RMSPropSolver(const SolverParameter& param);
  explicit RMSPropSolver(const string& param_file);
  const char* type() const override { return "RMSProp"; }
  double MeanMomentum(int /*param_id*/) override { return 0; }

 protected:
  void ComputeUpdateOf(const typename SGDSolver<Dtype>::Values& values,
                       Dtype rate) override;
  void constructor_sanity_check();

  DISABLE_COPY_AND_ASSIGN(RMSPropSolver);
};

// With h the mean square of gradients and k that of steps:
//
//   h = momentum h + (1 - momentum) g^2;  step = g sqrt((k + delta) / (h +
//   delta)); k = momentum k + (1 - momentum) step^2;  update = rate step
template <typename Dtype>
class AdaDeltaSolver : public SGDSolver<Dtype> {
 public:
  explicit AdaDeltaSolver(const SolverParameter& param);
  explicit AdaDeltaSolver(const string& param_file);
  const char* type() const override { return "AdaDelta"; }
  double MeanMomentum(int /*param_id*/) override { return 0; }

 protected:
  void AdaDeltaPreSolve();
  void ComputeUpdateOf(const typename SGDSolver<Dtype>::Values& values,
                       Dtype rate) override;

  DISABLE_COPY_AND_ASSIGN(AdaDeltaSolver);
};

// With m the mean of gradients, v that of their squares, and t counted from 1:
//
//   m = momentum m + (1 - momentum) g;  v = momentum2 v + (1 - momentum2) g^2
//   update = rate sqrt(1 - momentum2^t) / (1 - momentum^t) m / (sqrt(v) +
//   delta)
template <typename Dtype>
class AdamSolver : public SGDSolver<Dtype> {
 public:
  explicit AdamSolver(const SolverParameter& param);
  explicit AdamSolver(const string& param_file);
  const char* type() const override { return "Adam"; }
  double MeanMomentum(int param_id) override;

 protected:
  void AdamPreSolve();
  void ComputeUpdateOf(const typename SGDSolver<Dtype>::Values& values,
                       Dtype rate) override;

  DISABLE_COPY_AND_ASSIGN(AdamSolver);
};

}  // namespace caffe

#endif  // CAFFE_SGD_SOLVERS_HPP_
