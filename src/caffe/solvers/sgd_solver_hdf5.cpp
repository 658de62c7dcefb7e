#include <google/protobuf/text_format.h>

#include "caffe/sgd_solvers.hpp"
#include "caffe/util/hdf5.hpp"
#include "util/hdf5_file.hpp"

// In HDF5 a solver's state is the data sets /iter, /learned_net and
// /current_step, and a history blob each in /history/0, /history/1, .... What
// an exact resume needs is the text of a ResumeState in /resume, which stock
// Caffe does not look for.

namespace caffe {

namespace {

using ::google::protobuf::TextFormat;

std::optional<ResumeState> LoadResumeState(const Hdf5Group& file,
                                           const string& state_file) {
  if (!file.Has("resume")) return std::nullopt;
  ResumeState state;
  Require(TextFormat::ParseFromString(hdf5_load_string(file.id(), "resume"),
                                      &state),
          state_file, " is damaged: cannot parse its resume state");
  return state;
}

}  // namespace

template <typename Dtype>
void SGDSolver<Dtype>::SnapshotSolverStateToHDF5(const string& model_filename) {
  const string filename = this->SnapshotFilename(".solverstate.h5");
  LOG(INFO) << "Snapshotting solver state to HDF5 file " << filename;
  Hdf5Output output(filename);
  const Hdf5Group file = output.root();
  hdf5_save_int(file.id(), "iter", this->iter_);
  hdf5_save_string(file.id(), "learned_net", model_filename);
  hdf5_save_int(file.id(), "current_step", this->current_step_);
  const Hdf5Group history = file.CreateGroup("history");
  for (size_t i = 0; i < history_.size(); ++i) {
    hdf5_save_nd_dataset(history.id(), std::to_string(i), *history_[i]);
    PackHistory(static_cast<int>(i));
  }
  string resume;
  CHECK(TextFormat::PrintToString(this->SaveResumeState(), &resume));
  hdf5_save_string(file.id(), "resume", resume);
  output.Commit();
}

template <typename Dtype>
void SGDSolver<Dtype>::RestoreSolverStateFromHDF5(const string& state_file) {
  const Hdf5Group file = OpenHdf5(state_file);
  Require(file.Has("iter") && file.Has("history"), state_file,
          " is not the state of a solver");
  const int iter = hdf5_load_int(file.id(), "iter");
  const int current_step = hdf5_load_int(file.id(), "current_step");
  Require(iter >= 0 && current_step >= 0, state_file,
          " is not the state of a solver");
  const Hdf5Group history = file.OpenGroup("history");
  RequireHistoryOf(state_file, hdf5_get_num_links(history.id()));
  for (size_t i = 0; i < history_.size(); ++i) {
    hdf5_load_nd_dataset(history.id(), std::to_string(i).c_str(), 0,
                         kMaxBlobAxes, history_[i].get());
    PackHistory(static_cast<int>(i));
  }
  this->iter_ = iter;
  this->current_step_ = current_step;
  if (!file.Has("learned_net")) return;
  this->RestoreNets(state_file, hdf5_load_string(file.id(), "learned_net"),
                    LoadResumeState(file, state_file));
}

template class SGDSolver<float>;
template class SGDSolver<double>;

}  // namespace caffe
