#include "caffe/sgd_solvers.hpp"

// Stands in for snapshots in HDF5 where there is no HDF5.

namespace caffe {

namespace {

[[noreturn]] void BuiltWithoutHdf5(const char* what) {
  Fail(what, " is not possible: built without HDF5");
}

}  // namespace

template <typename Dtype>
string Solver<Dtype>::SnapshotToHDF5() {
  BuiltWithoutHdf5("a snapshot with snapshot_format: HDF5");
}

template <typename Dtype>
void SGDSolver<Dtype>::SnapshotSolverStateToHDF5(const string&) {
  BuiltWithoutHdf5("a snapshot with snapshot_format: HDF5");
}

template <typename Dtype>
void SGDSolver<Dtype>::RestoreSolverStateFromHDF5(const string& state_file) {
  BuiltWithoutHdf5(("resuming from " + state_file).c_str());
}

template class Solver<float>;
template class Solver<double>;
template class SGDSolver<float>;
template class SGDSolver<double>;

}  // namespace caffe
