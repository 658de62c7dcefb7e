#include <typeinfo>

#include "caffe/compress/packed_history.hpp"
#include "caffe/sgd_solvers.hpp"
#include "compress/solver_compression.hpp"
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
  packed_.clear();
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
double SGDSolver<Dtype>::CurrentRate() const {
  return RateAtStep(NextStep());
}

template <typename Dtype>
double SGDSolver<Dtype>::MeanMomentum(int param_id) {
  if (this->iter_ == 0) return 0;
  const Blob<Dtype>& history = *history_[param_id];
  // What the last gradient went into the history with.
  const double rate =
      LearningRate(this->param_, this->iter_ - 1, this->current_step_) *
      this->last_rate_scale() * this->net_->params_lr()[param_id];
  if (rate == 0 || history.count() == 0) return 0;
  const PackedHistory<Dtype>* const packed = PackHistory(param_id);
  const double sum =
      packed != nullptr ? packed->AbsoluteSum() : history.asum_data();
  return sum / history.count() / rate;
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
    for (int i = 0; i < num_params; ++i) {
      WithHistory(WholeOf(i), [&](const Values& values) {
        UpdateValues(values, learning_rate_);
      });
    }
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
void SGDSolver<Dtype>::UpdateParameter(const ParamSlice<Dtype>& slice) {
  // Going on to that step is left to ApplyUpdate.
  const Dtype rate = RateAtStep(NextStep());
  WithHistory(slice, [&](const Values& values) { UpdateValues(values, rate); });
}

template <typename Dtype>
void SGDSolver<Dtype>::UpdateValues(const Values& values, Dtype rate) {
  const int id = values.param_id;
  cpu::Decay<Dtype> decay =
      DecayOf<Dtype>(this->param_, this->net_->params_weight_decay()[id]);
  decay.scale = Dtype(1) / this->param_.iter_size();
  if (typeid(*this) == typeid(SGDSolver<Dtype>)) {
    cpu::SgdStep<Dtype>(values.count, decay, rate * this->net_->params_lr()[id],
                        this->param_.momentum(), values.data, values.diff,
                        values.history);
    return;
  }
  if (decay.scale != 1 || decay.l1 != 0 || decay.l2 != 0) {
    cpu::AddDecay(values.count, decay, values.data, values.diff);
  }
  ComputeUpdateOf(values, rate);
  caffe_axpy(values.count, Dtype(-1), values.diff, values.data);
}

template <typename Dtype>
ParamSlice<Dtype> SGDSolver<Dtype>::WholeOf(int param_id) const {
  Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
  return {param_id, 0, param->count(), param->mutable_cpu_diff()};
}

template <typename Dtype>
template <typename Work>
void SGDSolver<Dtype>::WithHistory(const ParamSlice<Dtype>& slice,
                                   const Work& work) {
  Blob<Dtype>* const param = this->net_->learnable_params()[slice.param_id];
  const Values all{.param_id = slice.param_id,
                   .count = slice.count,
                   .data = param->mutable_cpu_data() + slice.first,
                   .diff = slice.diff};
  if (PackedHistory<Dtype>* const packed = PackHistory(slice.param_id)) {
    // Two updates, or parameters, must not round alike.
    const auto seed = static_cast<uint32_t>(
        (static_cast<uint64_t>(this->updates_) << 20 | slice.param_id) *
            0x9E3779B97F4A7C15U >>
        32);
    packed->Update(slice.first, slice.count, seed,
                   [&](int first, int count, Dtype* history) {
                     Values some = all;
                     some.count = count;
                     some.data += first - slice.first;
                     some.diff += first - slice.first;
                     some.history = history;
                     work(some);
                   });
    return;
  }
  const size_t params = this->net_->learnable_params().size();
  Values values = all;
  values.history = history_[slice.param_id]->mutable_cpu_data() + slice.first;
  if (history_.size() > params) {
    values.history2 =
        history_[params + slice.param_id]->mutable_cpu_data() + slice.first;
  }
  work(values);
}

template <typename Dtype>
bool SGDSolver<Dtype>::IsPacked(int index) const {
  // Solvers of users may do with their histories what they like.
  return this->compression_ != nullptr && this->compression_->compresses() &&
         CanUpdateOneByOne() && PacksHistory(this->param_, this->type()) &&
         PackedHistory<Dtype>::IsWorthIt(history_[index]->count());
}

template <typename Dtype>
size_t SGDSolver<Dtype>::HistoryBytes(int index) const {
  const int count = history_[index]->count();
  return IsPacked(index) ? PackedHistory<Dtype>::BytesOf(count)
                         : count * sizeof(Dtype);
}

template <typename Dtype>
PackedHistory<Dtype>* SGDSolver<Dtype>::PackHistory(int index) {
  packed_.resize(history_.size());
  shared_ptr<PackedHistory<Dtype>>& packed = packed_[index];
  // Somebody holds it where it is.
  if (history_[index]->data()->is_pinned()) {
    packed.reset();
    return nullptr;
  }
  if (packed == nullptr && IsPacked(index)) {
    packed = boost::make_shared<PackedHistory<Dtype>>(history_[index]);
  }
  if (packed != nullptr) packed->TakeOver();
  return packed.get();
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
  WithHistory(WholeOf(param_id),
              [&](const Values& values) { ComputeUpdateOf(values, rate); });
}

template <typename Dtype>
void SGDSolver<Dtype>::ComputeUpdateOf(const Values& values, Dtype rate) {
  cpu::SgdUpdate<Dtype>(values.count,
                        rate * this->net_->params_lr()[values.param_id],
                        this->param_.momentum(), values.diff, values.history);
}

template class SGDSolver<float>;
template class SGDSolver<double>;
REGISTER_SOLVER_CLASS(SGD);

}  // namespace caffe
