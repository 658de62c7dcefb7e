#include "compress/solver_compression.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe/compress/stretches.hpp"
#include "compress/layer_weights.hpp"
#include "cpu/moments.hpp"

namespace caffe {

namespace {

void CheckSettings(const CompressionParameter& param) {
  if (param.codec() != "none") codec::FindCodec(param.codec());
  const ErrorBoundParameter& bound = param.error_bound();
  const auto require_positive = [](const char* name, double value) {
    Require(value > 0, "compression.error_bound.", name,
            " must be above 0, not ", value);
  };
  require_positive("tolerance", bound.tolerance());
  require_positive("coefficient", bound.coefficient());
  require_positive("value", bound.value());
  require_positive("interval", bound.interval());
  require_positive("relative", bound.relative());
  require_positive("max_relative", bound.max_relative());
  Require(param.verify_interval() >= 0,
          "compression.verify_interval must not be negative, as ",
          param.verify_interval(), " is");
  Require(param.history_bits() == 8 || param.history_bits() == 32,
          "compression.history_bits must be 8 or 32, not ",
          param.history_bits());
}

}  // namespace

template <typename Dtype>
shared_ptr<SolverCompression<Dtype>> SolverCompression<Dtype>::Make(
    Solver<Dtype>* solver) {
  const SolverParameter& param = solver->param();
  if (param.has_compression()) CheckSettings(param.compression());
  const bool compresses =
      param.has_compression() && param.compression().codec() != "none";
  const MemoryParameter& memory = solver->net()->memory_param();
  const bool plans = memory.has_plan() ? memory.plan() : compresses;
  if (plans) {
    return shared_ptr<SolverCompression>(
        new SolverCompression(solver, compresses));
  }
  Require(!param.compression().batch_size().adapt(),
          "compression.batch_size needs activations that are compressed, or at "
          "least planned: memory { plan: true } in the net");
  LOG_IF(WARNING, compresses)
      << "The net keeps all its memory (memory { plan: false }), so nothing is "
         "compressed";
  return nullptr;
}

template <typename Dtype>
SolverCompression<Dtype>::SolverCompression(Solver<Dtype>* solver,
                                            bool compresses)
    : solver_(solver),
      net_(solver->net().get()),
      param_(solver->param().compression()),
      memory_(boost::make_shared<ActivationMemory>()),
      schedule_(param_.error_bound().interval()),
      collected_(net_->layers().size()) {
  if (compresses) {
    policy_ = boost::make_shared<BoundPolicy>(param_, LayerInfosOf(*net_));
    // Before others can take the gradient away.
    net_->add_after_backward(HookFor([this](int layer) { Verify(layer); }));
  }
  const auto options = [&](const MemoryParameter& memory, Passes passes) {
    return typename ActivationStore<Dtype>::Options{
        .passes = passes, .largest_tensor = LargestTensor(memory, compresses)};
  };
  // At that time activations need less and less of their memory. Before the
  // store can take away what gradients are made of.
  updates_ = BackwardUpdates<Dtype>::Attach(
      net_, shared_ptr<memory::Arena>(memory_, &memory_->raw));
  store_ = ActivationStore<Dtype>::Attach(
      net_, memory_, policy_,
      options(net_->memory_param(), Passes::kForwardAndBackward));
  for (const auto& net : solver->test_nets()) {
    const MemoryParameter& memory = net->memory_param();
    if (memory.has_plan() && !memory.plan()) continue;
    // Not only when it is tested: nothing needs the parameters it has until
    // then.
    net->ShareTrainedLayersWith(net_);
    ActivationStore<Dtype>::Attach(net.get(), memory_, nullptr,
                                   options(memory, Passes::kForwardOnly));
  }
  batches_ = BatchControl<Dtype>::Make(solver, memory_, store_);
  if (!compresses) return;
  verification_ = std::make_unique<Verification<Dtype>>(net_, store_.get());
  guard_ = std::make_unique<Guard<Dtype>>(param_.guard(), solver, store_.get());
  net_->add_before_forward(HookFor([this](int layer) {
    if (layer == 0) StartPass();
  }));
  net_->add_before_backward(
      HookFor([this](int layer) { CollectGradient(layer); }));
  solver->add_callback(this);
}

template <typename Dtype>
typename Net<Dtype>::Callback* SolverCompression<Dtype>::HookFor(
    std::function<void(int)> function) {
  hooks_.push_back(boost::make_shared<LayerHook<Dtype>>(std::move(function)));
  net_->KeepAlive(hooks_.back());
  return hooks_.back().get();
}

template <typename Dtype>
SolverCompression<Dtype>::~SolverCompression() {
  for (const auto& hook : hooks_) hook->Disable();
}

template <typename Dtype>
void SolverCompression<Dtype>::on_start() {
  pass_ = 0;
  guard_->StartIteration();
  is_assessing_ = schedule_.IsDue(solver_->iter());
  is_verifying_ = solver_->IsDueEvery(param_.verify_interval());
  momenta_.assign(net_->learnable_params().size(), Momentum());
}

template <typename Dtype>
void SolverCompression<Dtype>::StartPass() {
  // Two passes, or iterations, must not round alike.
  const auto seed =
      static_cast<uint32_t>((static_cast<uint64_t>(solver_->updates()) *
                                 solver_->param().iter_size() +
                             pass_) *
                                0x9E3779B97F4A7C15U >>
                            32);
  const bool displays = solver_->IsDueEvery(solver_->param().display());
  policy_->set_divisor(guard_->divisor());
  policy_->StartPass({.seed = seed,
                      .assesses = is_assessing_ && pass_ == 0,
                      .measures = is_assessing_ || displays,
                      .verifies = is_verifying_ && pass_ == 0});
  ++pass_;
}

template <typename Dtype>
void SolverCompression<Dtype>::CollectGradient(int layer) {
  if (!(is_assessing_ || is_verifying_) || !IsObserved()) return;
  if (!policy_->layers()[layer].is_assessed) return;
  const Blob<Dtype>& top = *net_->working_tops(layer)[0];
  const cpu::Norms norms = cpu::NormsOf<Dtype>(top.count(), top.cpu_diff());
  LayerStatistics& statistics = collected_[layer];
  const bool is_in_parts = net_->parts() != nullptr;
  if (!is_in_parts || net_->part() == 0) statistics = LayerStatistics();
  const double parts = is_in_parts ? net_->parts()->stretch().parts : 1;
  statistics.gradient_norm = std::hypot(statistics.gradient_norm, norms.l2);
  statistics.mean_gradient += norms.mean_absolute / parts;
  statistics.channels = OutputChannels(*net_, layer);
  statistics.images = top.shape(0) * parts;
}

template <typename Dtype>
bool SolverCompression<Dtype>::BeforeBackward(Dtype loss) {
  if (guard_ && !guard_->AcceptsLoss(loss)) return false;
  if (is_verifying_ && IsObserved()) verification_->Rehearse();
  return true;
}

template <typename Dtype>
bool SolverCompression<Dtype>::BeforeUpdateOf(const ParamSlice<Dtype>& slice) {
  return guard_ == nullptr || guard_->AcceptsGradient(slice);
}

template <typename Dtype>
ParamSlice<Dtype> SolverCompression<Dtype>::WholeOf(int param_id) const {
  Blob<Dtype>* const param = net_->learnable_params()[param_id];
  return {param_id, 0, param->count(), param->mutable_cpu_diff()};
}

template <typename Dtype>
bool SolverCompression<Dtype>::BeforeUpdate() {
  const vector<Blob<Dtype>*>& params = net_->learnable_params();
  // From the top down, the way gradients come.
  for (int id = static_cast<int>(params.size()) - 1; id >= 0; --id) {
    const SyncedMemory& diff = *params[id]->diff();
    const bool is_there =
        !diff.is_evicted() && diff.head() != SyncedMemory::UNINITIALIZED;
    if (is_there && !BeforeUpdateOf(WholeOf(id))) return false;
  }
  return true;
}

template <typename Dtype>
void SolverCompression<Dtype>::Verify(int layer) {
  if (!is_verifying_ || !IsObserved() || !net_->is_at_last_part()) return;
  LayerStatistics statistics = collected_[layer];
  statistics.nonzero_fraction = policy_->statistics(layer).nonzero_fraction;
  verification_->Compare(layer,
                         GradientError(statistics, policy_->used_bound(layer)));
}

template <typename Dtype>
void SolverCompression<Dtype>::CollectMomentum(const ParamSlice<Dtype>& slice) {
  if (!is_assessing_) return;
  Momentum& momentum = momenta_[slice.param_id];
  if (slice.first == 0) {
    momentum = {.mean = solver_->MeanMomentum(slice.param_id),
                .is_known = true};
    momentum.is_of_gradients = momentum.mean == 0;
  }
  if (!momentum.is_of_gradients) return;
  const int count = net_->learnable_params()[slice.param_id]->count();
  momentum.mean += caffe_cpu_asum(slice.count, slice.diff) / count /
                   double(solver_->param().iter_size());
}

template <typename Dtype>
LayerStatistics SolverCompression<Dtype>::StatisticsOf(int layer) {
  LayerStatistics statistics = collected_[layer];
  const BoundPolicy::Statistics& activations = policy_->statistics(layer);
  statistics.nonzero_fraction = activations.nonzero_fraction;
  statistics.deviation = activations.deviation;
  statistics.passes = solver_->param().iter_size();
  const int id = WeightsId(*net_, layer);
  if (id < 0) return statistics;
  if (!momenta_[id].is_known) CollectMomentum(WholeOf(id));
  statistics.momentum = momenta_[id].mean;
  const Blob<Dtype>& weights = *net_->learnable_params()[id];
  statistics.sharers = 0;
  for (const auto& param : net_->params()) {
    statistics.sharers += param->data() == weights.data();
  }
  return statistics;
}

template <typename Dtype>
void SolverCompression<Dtype>::on_gradients_ready() {
  if (is_verifying_) verification_->Log(solver_->iter());
  is_verifying_ = false;
  if (!is_assessing_) return;
  double moved = 1;
  for (size_t i = 0; i < collected_.size(); ++i) {
    const int layer = static_cast<int>(i);
    if (!policy_->layers()[layer].is_assessed) continue;
    const double bound = AssessBound(param_.error_bound(), StatisticsOf(layer));
    if (!std::isfinite(bound) || bound <= 0) continue;
    const double old = policy_->bound(layer);
    if (old > 0) moved = std::max({moved, bound / old, old / bound});
    policy_->set_bound(layer, bound);
  }
  schedule_.Assessed(solver_->iter(), moved);
  is_assessing_ = false;
}

template <typename Dtype>
void SolverCompression<Dtype>::Trim() {
  memory_->raw.Trim();
  memory_->packing.frames().Trim();
}

template <typename Dtype>
CompressionState SolverCompression<Dtype>::SaveState() const {
  CompressionState state;
  if (batches_ != nullptr) batches_->SaveState(state.mutable_batch());
  if (policy_ == nullptr) return state;
  for (size_t i = 0; i < policy_->layers().size(); ++i) {
    const double bound = policy_->bound(static_cast<int>(i));
    if (bound == 0) continue;
    CompressionState::Layer* const layer = state.add_layer();
    layer->set_name(policy_->layers()[i].name);
    layer->set_bound(bound);
  }
  state.set_interval(schedule_.interval());
  state.set_next(schedule_.next());
  *state.mutable_guard() = guard_->SaveState();
  return state;
}

template <typename Dtype>
void SolverCompression<Dtype>::RestoreState(const CompressionState& state) {
  if (batches_ != nullptr) batches_->RestoreState(state.batch());
  if (policy_ == nullptr) return;
  for (const CompressionState::Layer& saved : state.layer()) {
    for (size_t i = 0; i < policy_->layers().size(); ++i) {
      if (policy_->layers()[i].name == saved.name() &&
          std::isfinite(saved.bound()) && saved.bound() > 0) {
        policy_->set_bound(static_cast<int>(i), saved.bound());
      }
    }
  }
  schedule_.Restore(state.interval(), state.next());
  guard_->RestoreState(state.guard());
}

template <typename Dtype>
void SolverCompression<Dtype>::LogProgress() {
  CompressionProgress progress = report_.Next(store_->Reports());
  caffe::LogProgress(progress);
  if (!solver_->has_observers() || progress.packed_bytes <= 0) return;
  progress.iteration = solver_->iter();
  progress.inputs = InputsFrom(report_.added());
  solver_->TellObservers(
      [&](SolverObserver* o) { o->OnCompression(progress); });
}

template <typename Dtype>
void SolverCompression<Dtype>::LogTable() const {
  LogInputs(Inputs());
}

template <typename Dtype>
std::vector<LayerInput> SolverCompression<Dtype>::InputsFrom(
    const std::vector<ActivationReport>& reports) const {
  return InputsOf(reports, net_->layer_names(), [&](int layer) {
    return verification_ ? verification_->sigma(layer) : std::nullopt;
  });
}

template class SolverCompression<float>;
template class SolverCompression<double>;

}  // namespace caffe
