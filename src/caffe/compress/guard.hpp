#ifndef CAFFE_SRC_COMPRESS_GUARD_HPP_
#define CAFFE_SRC_COMPRESS_GUARD_HPP_

#include <string>
#include <utility>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "caffe/solver.hpp"
#include "compress/loss_trend.hpp"

namespace caffe {

// Watches a run for losses and gradients that are no numbers, and for losses
// far above their trend, and does what its settings say: warns, makes errors
// smaller, or stops the run. It belongs to a solver and runs on its thread.
template <typename Dtype>
class Guard {
 public:
  Guard(const GuardParameter& param, Solver<Dtype>* solver,
        ActivationStore<Dtype>* store);

  // To be called when an iteration starts.
  void StartIteration();
  // Whether training may go on with a batch of that loss. If not, the update of
  // this iteration is to be left out. Throws Error when the run is to stop.
  bool AcceptsLoss(Dtype loss);
  // The same for the gradient of a learnable parameter; of a large one only a
  // part is looked at. Before the first of several slices, what all of them are
  // made of is looked at, too.
  bool AcceptsGradient(const ParamSlice<Dtype>& slice);

  // What all bounds are to be divided by.
  double divisor() const { return state_.divisor(); }

  GuardState SaveState() const;
  // Throws Error for a state that cannot be a guard's.
  void RestoreState(const GuardState& state);

 private:
  // Whether all values of an activation are numbers; so are those that were
  // dropped.
  bool IsFinite(const Blob<Dtype>& activation) const;
  // The first parameter, or activation that is still there, with values that
  // are no numbers.
  std::string FirstNotFinite() const;
  // The layer whose loss is the largest.
  std::string LargestLoss() const;

  // Whether the gradient that came to the layer of a parameter is made of
  // numbers.
  bool IsFiniteAbove(int param_id) const;
  // Something that is no number was found.
  bool AcceptsNotFinite(const std::string& what);
  void ReportHighLoss(Dtype loss);
  void Tighten();
  // Logs a warning, and tells observers.
  void Warn(const std::string& what) const;
  [[noreturn]] void Stop(const std::string& why);
  // Averages that Forward itself has changed become what they were.
  void UndoForward();

  const GuardParameter param_;
  Solver<Dtype>* const solver_;
  Net<Dtype>* const net_;
  ActivationStore<Dtype>* const store_;
  LossTrend trend_;
  GuardState state_;
  bool is_alarmed_ = false;
  // Blobs that Forward changes, and their values when the iteration started.
  std::vector<std::pair<Blob<Dtype>*, std::vector<Dtype>>> averages_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_GUARD_HPP_
