#include <cmath>

#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
AdamSolver<Dtype>::AdamSolver(const SolverParameter& param)
    : SGDSolver<Dtype>(param) {
  AdamPreSolve();
}

template <typename Dtype>
AdamSolver<Dtype>::AdamSolver(const string& param_file)
    : SGDSolver<Dtype>(param_file) {
  AdamPreSolve();
}

template <typename Dtype>
void AdamSolver<Dtype>::AdamPreSolve() {
  this->AddHistory();
}

template <typename Dtype>
double AdamSolver<Dtype>::MeanMomentum(int param_id) {
  const Blob<Dtype>& mean = *this->history_[param_id];
  // A mean of gradients where other solvers keep their sum.
  return mean.asum_data() / std::max(1, mean.count()) /
         (1 - this->param_.momentum());
}

template <typename Dtype>
void AdamSolver<Dtype>::ComputeUpdateOf(
    const typename SGDSolver<Dtype>::Values& values, Dtype rate) {
  const Dtype beta1 = this->param_.momentum();
  const Dtype beta2 = this->param_.momentum2();
  // Both means start at zero; this makes up for it.
  const auto t = static_cast<Dtype>(this->updates_ + 1);
  const Dtype correction = std::sqrt(Dtype(1) - std::pow(beta2, t)) /
                           (Dtype(1) - std::pow(beta1, t));
  cpu::AdamUpdate<Dtype>(
      values.count,
      rate * this->net_->params_lr()[values.param_id] * correction, beta1,
      beta2, this->param_.delta(), values.diff, values.history,
      values.history2);
}

INSTANTIATE_CLASS(AdamSolver);
REGISTER_SOLVER_CLASS(Adam);

}  // namespace caffe
