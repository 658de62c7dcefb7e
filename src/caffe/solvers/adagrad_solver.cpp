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
void AdaGradSolver<Dtype>::ComputeUpdateValue(int param_id, Dtype rate) {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  cpu::AdaGradUpdate<Dtype>(param->count(),
                            rate * this->net_->params_lr()[param_id],
                            this->param_.delta(), param->mutable_cpu_diff(),
                            this->history_[param_id]->mutable_cpu_data());
}

INSTANTIATE_CLASS(AdaGradSolver);
REGISTER_SOLVER_CLASS(AdaGrad);

}  // namespace caffe
