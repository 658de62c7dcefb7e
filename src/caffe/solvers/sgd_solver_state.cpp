#include "caffe/sgd_solvers.hpp"
#include "caffe/util/io.hpp"
#include "naming.hpp"

namespace caffe {

template <typename Dtype>
void SGDSolver<Dtype>::SnapshotSolverState(const string& model_filename) {
  if (this->param_.snapshot_format() == SolverParameter::BINARYPROTO) {
    SnapshotSolverStateToBinaryProto(model_filename);
  } else {
    SnapshotSolverStateToHDF5(model_filename);
  }
}

template <typename Dtype>
void SGDSolver<Dtype>::SnapshotSolverStateToBinaryProto(
    const string& model_filename) {
  const string filename = this->SnapshotFilename(".solverstate");
  LOG(INFO) << "Snapshotting solver state to binary proto file " << filename;
  SolverState state;
  state.set_iter(this->iter_);
  state.set_learned_net(model_filename);
  state.set_current_step(this->current_step_);
  for (size_t i = 0; i < history_.size(); ++i) {
    history_[i]->ToProto(state.add_history());
    PackHistory(static_cast<int>(i));
  }
  *state.mutable_resume() = this->SaveResumeState();
  WriteProtoToBinaryFile(state, filename);
}

template <typename Dtype>
void SGDSolver<Dtype>::RequireHistoryOf(const string& state_file,
                                        int64_t size) const {
  Require(size == static_cast<int64_t>(history_.size()), state_file, " has ",
          size, " history blobs where the ", this->type(),
          " solver of this net has ", history_.size(),
          ": it was written by another type of solver or for another net");
}

template <typename Dtype>
void SGDSolver<Dtype>::RestoreSolverStateFromBinaryProto(
    const string& state_file) {
  SolverState state;
  ReadProtoFromBinaryFileOrDie(state_file, &state);
  Require(state.has_iter() && state.iter() >= 0 && state.current_step() >= 0,
          state_file, " is not the state of a solver");
  RequireHistoryOf(state_file, state.history_size());
  for (int i = 0; i < state.history_size(); ++i) {
    Naming(
        [&] { return Concat(state_file, ": history blob ", i); },
        [&] { history_[i]->FromProto(state.history(i), /*reshape=*/false); });
    PackHistory(i);
  }
  this->iter_ = state.iter();
  this->current_step_ = state.current_step();
  if (!state.has_learned_net()) return;
  this->RestoreNets(
      state_file, state.learned_net(),
      state.has_resume() ? std::optional(state.resume()) : std::nullopt);
}

template class SGDSolver<float>;
template class SGDSolver<double>;

}  // namespace caffe
