#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
void NesterovSolver<Dtype>::ComputeUpdateValue(int param_id, Dtype rate) {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  cpu::NesterovUpdate<Dtype>(param->count(),
                             rate * this->net_->params_lr()[param_id],
                             this->param_.momentum(), param->mutable_cpu_diff(),
                             this->history_[param_id]->mutable_cpu_data());
}

INSTANTIATE_CLASS(NesterovSolver);
REGISTER_SOLVER_CLASS(Nesterov);

}  // namespace caffe
