#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
AdaDeltaSolver<Dtype>::AdaDeltaSolver(const SolverParameter& param)
    : SGDSolver<Dtype>(param) {
  AdaDeltaPreSolve();
}

template <typename Dtype>
AdaDeltaSolver<Dtype>::AdaDeltaSolver(const string& param_file)
    : SGDSolver<Dtype>(param_file) {
  AdaDeltaPreSolve();
}

template <typename Dtype>
void AdaDeltaSolver<Dtype>::AdaDeltaPreSolve() {
  this->AddHistory();
}

template <typename Dtype>
void AdaDeltaSolver<Dtype>::ComputeUpdateOf(
    const typename SGDSolver<Dtype>::Values& values, Dtype rate) {
  cpu::AdaDeltaUpdate<Dtype>(values.count,
                             rate * this->net_->params_lr()[values.param_id],
                             this->param_.momentum(), this->param_.delta(),
                             values.diff, values.history, values.history2);
}

INSTANTIATE_CLASS(AdaDeltaSolver);
REGISTER_SOLVER_CLASS(AdaDelta);

}  // namespace caffe
