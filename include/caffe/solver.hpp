#ifndef CAFFE_SOLVER_HPP_
#define CAFFE_SOLVER_HPP_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/param_slice.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/solver_factory.hpp"
#include "caffe/solver_observer.hpp"

namespace caffe {

// What the outside (a signal, usually) asks of a running solver.
namespace SolverAction {
enum Enum { NONE = 0, STOP = 1, SNAPSHOT = 2 };
}

// Asked between iterations and between test batches; says NONE when there is
// nothing to do, and every other request once.
typedef std::function<SolverAction::Enum()> ActionCallback;

template <typename Dtype>
class SolverCompression;
template <typename Dtype>
class BatchControl;

// Trains a net: runs forward and backward, lets the subclass change the
// parameters (ApplyUpdate), tests, displays and takes snapshots, as the
// SolverParameter says. A solver owns its nets and belongs to one thread.
//
// Settings that make no sense, and files that cannot be used, throw Error.
template <typename Dtype>
class Solver {
 public:
  explicit Solver(const SolverParameter& param);
  // Reads the settings from a prototxt, upgrading old formats.
  explicit Solver(const string& param_file);
  virtual ~Solver() = default;

  void Init(const SolverParameter& param);
  void InitTrainNet();
  void InitTestNets();

  void SetActionFunction(ActionCallback func);
  SolverAction::Enum GetRequestedAction();

  // Trains until max_iter, from where resume_file left off when there is one.
  virtual void Solve(const char* resume_file = nullptr);
  void Solve(const string& resume_file) { Solve(resume_file.c_str()); }
  void Step(int iters);

  // Goes back to a snapshot, given the name of its solver state. Throws Error
  // when the file is damaged, or belongs to another net or solver; the solver
  // must not be used for training then, but another Restore may follow.
  void Restore(const char* resume_file);
  // Goes back to the newest snapshot under snapshot_prefix that can be used,
  // warning of those that cannot. False when there is none at all; throws Error
  // when all are unusable.
  bool RestoreNewest();
  // Writes the model and then the state that names it. A file is whole or not
  // there, whenever the process may die.
  void Snapshot();
  // Throws Error now rather than at the first snapshot.
  void CheckSnapshotWritePermissions();

  const SolverParameter& param() const { return param_; }
  shared_ptr<Net<Dtype>> net() { return net_; }
  const vector<shared_ptr<Net<Dtype>>>& test_nets() { return test_nets_; }
  // How far training is, in iterations of the batch size that the net's
  // settings say, whatever size batches have: max_iter, the learning rate and
  // all intervals count these.
  int iter() const { return iter_; }
  // How many times the parameters have been updated; as iter() unless the batch
  // size is adapted.
  int64_t updates() const { return updates_; }
  // Whether a multiple of so many iterations lies in this one, which may count
  // for several; never for 0.
  bool IsDueEvery(int interval) const;
  // Images of an iteration (over iter_size) by the net's settings, when the
  // batch size is adapted; otherwise 0.
  int configured_batch_size() const;
  // Images that an iteration counts for, over iter_size: what the first layer
  // gives, unless the batch size is adapted.
  int images_per_iteration() const;
  // The mean loss of the last average_loss iterations.
  Dtype smoothed_loss() const { return smoothed_loss_; }
  // The learning rate of this iteration; zero for solvers that have none.
  virtual double CurrentRate() const { return 0; }

  // What compresses the nets' activations; null when nothing is compressed or
  // planned.
  const SolverCompression<Dtype>* compression() const {
    return compression_.get();
  }

  // The mean absolute momentum of a learnable parameter, in units of its
  // gradient: of the sum of all gradients, older ones counting less. Zero when
  // there is none.
  virtual double MeanMomentum(int /*param_id*/) { return 0; }

  // Whether parameters could be updated, and their gradients dropped, during
  // Backward: no setting and no callback wants all of them afterwards. They are
  // when the net's memory is planned.
  bool CanUpdateInBackward() const;

  // Called in every iteration, before it starts and before the update.
  class Callback {
   public:
    virtual ~Callback() = default;

   protected:
    virtual void on_start() = 0;
    virtual void on_gradients_ready() = 0;

    template <typename T>
    friend class Solver;
  };
  const vector<Callback*>& callbacks() const { return callbacks_; }
  void add_callback(Callback* value) { callbacks_.push_back(value); }

  // Observers are told what training finds out. They must live as long as the
  // solver trains.
  void add_observer(SolverObserver* value) { observers_.push_back(value); }
  template <typename Tell>
  void TellObservers(const Tell& tell) const {
    for (SolverObserver* observer : observers_) tell(observer);
  }
  bool has_observers() const { return !observers_.empty(); }

  virtual const char* type() const { return ""; }

  // Turns the gradients in the diffs of the net's parameters into an update,
  // and updates them.
  virtual void ApplyUpdate() = 0;

 protected:
  string SnapshotFilename(const string& extension);
  // Return the name of the file they wrote.
  string SnapshotToBinaryProto();
  string SnapshotToHDF5();
  // Tests all nets, or one of them, on test_iter batches.
  void TestAll();
  void Test(const int test_net_id = 0);
  virtual void SnapshotSolverState(const string& model_filename) = 0;
  virtual void RestoreSolverStateFromHDF5(const string& state_file) = 0;
  virtual void RestoreSolverStateFromBinaryProto(const string& state_file) = 0;
  // For subclasses that store their state: what an exact resume needs besides
  // weights, history, iter_ and current_step_.
  ResumeState SaveResumeState() const;
  // Reads the weights that a state names, then restores what SaveResumeState
  // gave. Empty for a state without: one written by stock Caffe.
  void RestoreNets(const string& state_file, const string& learned_net,
                   const std::optional<ResumeState>& resume);
  void UpdateSmoothedLoss(Dtype loss, int start_iter, int average_loss);

  // Whether the update of a value depends on its own gradient alone, so that
  // UpdateParameter can do it before other gradients are there. Then
  // ApplyUpdate finds is_updated_, and has only the rest to do.
  virtual bool CanUpdateOneByOne() const { return false; }
  virtual void UpdateParameter(const ParamSlice<Dtype>& /*slice*/) {}

  // By how much the learning rate grows with the batch: in this iteration, and
  // in the last.
  double rate_scale() const;
  double last_rate_scale() const;

  SolverParameter param_;
  int iter_ = 0;
  int64_t updates_ = 0;
  // Learning-rate steps taken by the "step" and "multistep" policies.
  int current_step_ = 0;
  shared_ptr<Net<Dtype>> net_;
  vector<shared_ptr<Net<Dtype>>> test_nets_;
  vector<Callback*> callbacks_;
  vector<SolverObserver*> observers_;
  // The last losses, oldest first, and their mean.
  vector<Dtype> losses_;
  Dtype smoothed_loss_ = 0;
  ActionCallback action_request_function_;
  bool requested_early_exit_ = false;
  // Backward has updated the parameters of this iteration.
  bool is_updated_ = false;
  // Null when nothing is compressed or planned.
  shared_ptr<SolverCompression<Dtype>> compression_;

 private:
  // Null when the batch size is not adapted.
  BatchControl<Dtype>* batches() const;
  // Whether training is right after a multiple of so many iterations; never
  // after one of 0.
  bool IsAtMultipleOf(int interval) const;
  // Chooses the batch size of the next iteration, which ends at the latest
  // where something is due.
  void ChooseBatch(int stop_iter);
  // One iteration, from cleared gradients to updated parameters.
  void Iterate(int start_iter);
  void Backward();
  // Counts an iteration.
  void Advance();
  void DisplayIteration(Dtype loss);
  // Tells observers of a display; without a speed when nothing was trained.
  void ReportDisplay(Dtype loss, double iterations_per_second) const;
  // Does what was requested while testing.
  void ServeRequests();
  // Throws Error unless a snapshot could be written now.
  void ProbeSnapshots();
  ResumeState CurrentState() const;
  void SavePace(BatchState* state) const;
  void RestorePace(const BatchState& state);
  // As if the batch size had always been that of the net's settings.
  void ResetPace();

  // A snapshot taken while tests run goes back to where they began: they run
  // again, from the same state, after a resume.
  std::optional<ResumeState> before_tests_;
  // The losses came from a snapshot; the next Step goes on with them.
  bool losses_restored_ = false;
  // Where the batch size is adapted, images count: those that make an iteration
  // by the net's settings, those of this one and of the last, and those beyond
  // iter_ iterations.
  struct Pace {
    int configured = 1;
    int now = 1;
    int last = 1;
    int rest = 0;
  };
  Pace pace_;
  std::chrono::steady_clock::time_point last_display_;
  int last_display_iter_ = 0;

  DISABLE_COPY_AND_ASSIGN(Solver);
};

}  // namespace caffe

#endif  // CAFFE_SOLVER_HPP_
