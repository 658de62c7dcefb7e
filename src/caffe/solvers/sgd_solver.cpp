#include <typeinfo>

#include "caffe/sgd_solvers.hpp"
#include "cpu/update.hpp"
#include "solvers/learning_rate.hpp"

namespace caffe {

namespace {

// The decay of a parameter with that multiplier, without scaling.
template <typename Dtype>
cpu::Decay<Dtype> DecayOf(const SolverParameter& param, float multiplier) {
  cpu::Decay<Dtype> decay;
  const Dtype strength = Dtype(param.weight_decay()) * multiplier;
  if (param.regularization_type() == "L1") {
    decay.l1 = strength;
  } else {
    decay.l2 = strength;
  }
  return decay;
}

// Whether the object is of one of the classes, not of one derived from them.
template <typename... Classes, typename Object>
bool IsOneOf(const Object& object) {
  return ((typeid(object) == typeid(Classes)) || ...);
}

}  // namespace

template <typename Dtype>
void SGDSolver<Dtype>::PreSolve() {
  const string& regularization = this->param_.regularization_type();
  Require(regularization == "L1" || regularization == "L2",
          "unknown regularization_type '", regularization, "'; use L1 or L2");
  // Without one, a solver may still run its nets; it cannot train them.
  if (this->param_.has_lr_policy()) CheckLearningRatePolicy(this->param_);
  history_.clear();
  update_.clear();
  temp_.clear();
  AddHistory();
  for (const auto& blob : history_) {
    update_.emplace_back(new Blob<Dtype>(blob->shape()));
    temp_.emplace_back(new Blob<Dtype>(blob->shape()));
  }
}

template <typename Dtype>
void SGDSolver<Dtype>::AddHistory() {
  for (const Blob<Dtype>* param : this->net_->learnable_params()) {
    history_.emplace_back(new Blob<Dtype>(param->shape()));
    history_.back()->SetLabel(memory::Kind::kOptimizer,
                              param->data()->label().name);
  }
}

template <typename Dtype>
Dtype SGDSolver<Dtype>::GetLearningRate() {
  const int step = NextStep();
  LOG_IF(INFO,
         step != this->current_step_ && this->param_.lr_policy() == "multistep")
      << "MultiStep Status: Iteration " << this->iter_ << ", step = " << step;
  this->current_step_ = step;
  return RateAtStep(step);
}

template <typename Dtype>
int SGDSolver<Dtype>::NextStep() const {
  CheckLearningRatePolicy(this->param_);
  return LearningRateStep(this->param_, this->iter_, this->current_step_);
}

template <typename Dtype>
Dtype SGDSolver<Dtype>::RateAtStep(int step) const {
  return static_cast<Dtype>(LearningRate(this->param_, this->iter_, step) *
                            this->rate_scale());
}

template <typename Dtype>
double SGDSolver<Dtype>::MeanMomentum(int param_id) const {
  if (this->iter_ == 0) return 0;
  const Blob<Dtype>& history = *history_[param_id];
  // What the last gradient went into the history with.
  const double rate =
      LearningRate(this->param_, this->iter_ - 1, this->current_step_) *
      this->last_rate_scale() * this->net_->params_lr()[param_id];
  if (rate == 0 || history.count() == 0) return 0;
  return history.asum_data() / history.count() / rate;
}

template <typename Dtype>
void SGDSolver<Dtype>::ApplyUpdate() {
  learning_rate_ = GetLearningRate();
  if (this->IsDueEvery(this->param_.display())) {
    LOG_IF(INFO, Caffe::root_solver())
        << "Iteration " << this->iter_ << ", lr = " << learning_rate_;
  }
  if (this->is_updated_) return;
  ClipGradients();
  const int num_params =
      static_cast<int>(this->net_->learnable_params().size());
  // A subclass may have overridden any step, and debugging shows updates before
  // they are applied.
  if (typeid(*this) == typeid(SGDSolver<Dtype>) && !this->param_.debug_info()) {
    for (int i = 0; i < num_params; ++i) UpdateInOnePass(i, learning_rate_);
    return;
  }
  for (int i = 0; i < num_params; ++i) {
    Normalize(i);
    Regularize(i);
    ComputeUpdateValue(i, learning_rate_);
  }
  this->net_->Update();
}

template <typename Dtype>
bool SGDSolver<Dtype>::CanUpdateOneByOne() const {
  return IsOneOf<SGDSolver<Dtype>, NesterovSolver<Dtype>, AdaGradSolver<Dtype>,
                 RMSPropSolver<Dtype>, AdaDeltaSolver<Dtype>,
                 AdamSolver<Dtype>>(*this);
}

template <typename Dtype>
void SGDSolver<Dtype>::UpdateParameter(int param_id) {
  // Going on to that step is left to ApplyUpdate.
  const Dtype rate = RateAtStep(NextStep());
  if (typeid(*this) == typeid(SGDSolver<Dtype>)) {
    UpdateInOnePass(param_id, rate);
    return;
  }
  Normalize(param_id);
  Regularize(param_id);
  ComputeUpdateValue(param_id, rate);
  this->net_->learnable_params()[param_id]->Update();
}

template <typename Dtype>
void SGDSolver<Dtype>::UpdateInOnePass(int param_id, Dtype rate) {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  cpu::Decay<Dtype> decay =
      DecayOf<Dtype>(this->param_, this->net_->params_weight_decay()[param_id]);
  decay.scale = Dtype(1) / this->param_.iter_size();
  cpu::SgdStep<Dtype>(
      param->count(), decay, rate * this->net_->params_lr()[param_id],
      this->param_.momentum(), param->mutable_cpu_data(),
      param->mutable_cpu_diff(), history_[param_id]->mutable_cpu_data());
}

template <typename Dtype>
void SGDSolver<Dtype>::ClipGradients() {
  const Dtype limit = this->param_.clip_gradients();
  if (limit < 0) return;
  const vector<Blob<Dtype>*>& params = this->net_->learnable_params();
  Dtype sum_of_squares = 0;
  for (const Blob<Dtype>* param : params) sum_of_squares += param->sumsq_diff();
  const Dtype norm = std::sqrt(sum_of_squares);
  if (norm <= limit) return;
  const Dtype scale = limit / norm;
  LOG(INFO) << "Gradient clipping: scaling down gradients (L2 norm " << norm
            << " > " << limit << ") by scale factor " << scale;
  for (Blob<Dtype>* param : params) param->scale_diff(scale);
}

template <typename Dtype>
void SGDSolver<Dtype>::Normalize(int param_id) {
  if (this->param_.iter_size() == 1) return;
  this->net_->learnable_params()[param_id]->scale_diff(
      Dtype(1) / this->param_.iter_size());
}

template <typename Dtype>
void SGDSolver<Dtype>::Regularize(int param_id) {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  const cpu::Decay<Dtype> decay =
      DecayOf<Dtype>(this->param_, this->net_->params_weight_decay()[param_id]);
  if (decay.l1 == 0 && decay.l2 == 0) return;
  cpu::AddDecay(param->count(), decay, param->cpu_data(),
                param->mutable_cpu_diff());
}

template <typename Dtype>
void SGDSolver<Dtype>::ComputeUpdateValue(int param_id, Dtype rate) {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  cpu::SgdUpdate<Dtype>(param->count(),
                        rate * this->net_->params_lr()[param_id],
                        this->param_.momentum(), param->mutable_cpu_diff(),
                        history_[param_id]->mutable_cpu_data());
}

template class SGDSolver<float>;
template class SGDSolver<double>;
REGISTER_SOLVER_CLASS(SGD);

}  // namespace caffe
