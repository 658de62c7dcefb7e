#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
void NesterovSolver<Dtype>::ComputeUpdateOf(
    const typename SGDSolver<Dtype>::Values& values, Dtype rate) {
  cpu::NesterovUpdate<Dtype>(
      values.count, rate * this->net_->params_lr()[values.param_id],
      this->param_.momentum(), values.diff, values.history);
}

INSTANTIATE_CLASS(NesterovSolver);
REGISTER_SOLVER_CLASS(Nesterov);

}  // namespace caffe
