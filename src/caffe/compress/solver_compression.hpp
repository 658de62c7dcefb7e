#ifndef CAFFE_SRC_COMPRESS_SOLVER_COMPRESSION_HPP_
#define CAFFE_SRC_COMPRESS_SOLVER_COMPRESSION_HPP_

#include <functional>
#include <memory>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "caffe/compress/bound_policy.hpp"
#include "caffe/compress/error_bound.hpp"
#include "caffe/solver.hpp"
#include "compress/batch_control.hpp"
#include "compress/compression_report.hpp"
#include "compress/guard.hpp"
#include "compress/verification.hpp"
#include "layer_hook.hpp"
#include "solvers/backward_updates.hpp"

namespace caffe {

// Compresses the activations of a solver's nets, and keeps the bounds of their
// errors such that they do no harm: collects what is known of activations,
// gradients and momentum when an assessment is due, and assesses when the
// gradients are ready. The solver owns it.
template <typename Dtype>
class SolverCompression : public Solver<Dtype>::Callback {
 public:
  // Takes over the activations of the solver's nets, as its settings and those
  // of its nets say; null when they say nothing of it.
  static shared_ptr<SolverCompression> Make(Solver<Dtype>* solver);
  ~SolverCompression() override;

  // To be called after every Forward in training, with its loss, before its
  // Backward, and before the update of all parameters, or of one. When false,
  // the update is to be left out. Throw Error when training is to stop.
  bool BeforeBackward(Dtype loss);
  bool BeforeUpdate();
  bool BeforeUpdateOf(const ParamSlice<Dtype>& slice);
  // For solvers that update parameters during Backward, one by one: to be told
  // before each update, while its gradient is still there.
  BackwardUpdates<Dtype>& updates() { return *updates_; }
  void CollectMomentum(const ParamSlice<Dtype>& slice);
  // Whether gradients of this iteration are looked at as a whole.
  bool needs_whole_gradients() const { return is_verifying_; }
  // Whether anything is packed, not only planned.
  bool compresses() const { return policy_ != nullptr; }

  // One line about the iterations since the last call.
  void LogProgress();
  // A table of what became of every tensor.
  void LogTable() const;

  // What became of the training net's tensors.
  std::vector<ActivationReport> Reports() const { return store_->Reports(); }
  // The same by the layers that read them.
  std::vector<LayerInput> Inputs() const { return InputsFrom(Reports()); }

  // Null when the batch size is not to be adapted.
  BatchControl<Dtype>* batches() const { return batches_.get(); }
  // Gives memory back that is not in use between two iterations.
  void Trim();

  CompressionState SaveState() const;
  // Bounds of layers the net does not have are left out.
  void RestoreState(const CompressionState& state);

 protected:
  void on_start() override;
  void on_gradients_ready() override;

 private:
  SolverCompression(Solver<Dtype>* solver, bool compresses);
  typename Net<Dtype>::Callback* HookFor(std::function<void(int)> function);
  void StartPass();
  // Whether this pass is the one of its iteration that is looked at.
  bool IsObserved() const { return pass_ == 1; }
  void CollectGradient(int layer);
  void Verify(int layer);
  LayerStatistics StatisticsOf(int layer);
  std::vector<LayerInput> InputsFrom(
      const std::vector<ActivationReport>& reports) const;
  ParamSlice<Dtype> WholeOf(int param_id) const;

  Solver<Dtype>* const solver_;
  Net<Dtype>* const net_;
  const CompressionParameter param_;
  const shared_ptr<ActivationMemory> memory_;
  shared_ptr<BoundPolicy> policy_;
  shared_ptr<ActivationStore<Dtype>> store_;
  std::unique_ptr<Verification<Dtype>> verification_;
  std::unique_ptr<Guard<Dtype>> guard_;
  shared_ptr<BackwardUpdates<Dtype>> updates_;
  std::unique_ptr<BatchControl<Dtype>> batches_;
  std::vector<shared_ptr<LayerHook<Dtype>>> hooks_;
  AssessmentSchedule schedule_;
  CompressionReport report_;
  bool is_assessing_ = false;
  bool is_verifying_ = false;
  int pass_ = 0;
  // What a collection has found, for layers with weights.
  std::vector<LayerStatistics> collected_;
  // Of the learnable parameters: mean momentum, or mean gradient where there is
  // none.
  struct Momentum {
    double mean = 0;
    bool is_known = false;
    bool is_of_gradients = false;
  };
  std::vector<Momentum> momenta_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_SOLVER_COMPRESSION_HPP_
