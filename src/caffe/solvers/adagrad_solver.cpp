#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
AdaGradSolver<Dtype>::AdaGradSolver(const SolverParameter& param)
    : SGDSolver<Dtype>(param) {
  constructor_sanity_check();
}

template <typename Dtype>
AdaGradSolver<Dtype>::AdaGradSolver(const string& param_file)
    : SGDSolver<Dtype>(param_file) {
  constructor_sanity_check();
}

template <typename Dtype>
void AdaGradSolver<Dtype>::constructor_sanity_check() {
  Require(this->param_.momentum() == 0,
          "the AdaGrad solver takes no momentum, but the solver has ",
          this->param_.momentum());
}

template <typename Dtype>
void AdaGradSolver<Dtype>::ComputeUpdateOf(
    const typename SGDSolver<Dtype>::Values& values, Dtype rate) {
  cpu::AdaGradUpdate<Dtype>(values.count,
                            rate * this->net_->params_lr()[values.param_id],
                            this->param_.delta(), values.diff, values.history);
}

INSTANTIATE_CLASS(AdaGradSolver);
REGISTER_SOLVER_CLASS(AdaGrad);

}  // namespace caffe
