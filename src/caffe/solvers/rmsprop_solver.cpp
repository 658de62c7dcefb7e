#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"

namespace caffe {

template <typename Dtype>
RMSPropSolver<Dtype>::RMSPropSolver(const SolverParameter& param)
    : SGDSolver<Dtype>(param) {
  constructor_sanity_check();
}

template <typename Dtype>
RMSPropSolver<Dtype>::RMSPropSolver(const string& param_file)
    : SGDSolver<Dtype>(param_file) {
  constructor_sanity_check();
}

template <typename Dtype>
void RMSPropSolver<Dtype>::constructor_sanity_check() {
  const SolverParameter& param = this->param_;
  Require(param.momentum() == 0,
          "the RMSProp solver takes no momentum, but the solver has ",
          param.momentum());
  Require(param.rms_decay() >= 0 && param.rms_decay() < 1,
          "rms_decay must be at least 0 and below 1, not ", param.rms_decay());
}

template <typename Dtype>
void RMSPropSolver<Dtype>::ComputeUpdateOf(
    const typename SGDSolver<Dtype>::Values& values, Dtype rate) {
  cpu::RmsPropUpdate<Dtype>(values.count,
                            rate * this->net_->params_lr()[values.param_id],
                            this->param_.rms_decay(), this->param_.delta(),
                            values.diff, values.history);
}

INSTANTIATE_CLASS(RMSPropSolver);
REGISTER_SOLVER_CLASS(RMSProp);

}  // namespace caffe
