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
void AdaDeltaSolver<Dtype>::ComputeUpdateValue(int param_id, Dtype rate) {
  const vector<Blob<Dtype>*>& params = this->net_->learnable_params();
  Blob<Dtype>* const param = params[param_id];
  cpu::AdaDeltaUpdate<Dtype>(
      param->count(), rate * this->net_->params_lr()[param_id],
      this->param_.momentum(), this->param_.delta(), param->mutable_cpu_diff(),
      this->history_[param_id]->mutable_cpu_data(),
      this->history_[params.size() + param_id]->mutable_cpu_data());
}

INSTANTIATE_CLASS(AdaDeltaSolver);
REGISTER_SOLVER_CLASS(AdaDelta);

}  // namespace caffe
