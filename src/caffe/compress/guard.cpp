#include "compress/guard.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/moments.hpp"

namespace caffe {

namespace {

// What is no number in the gradient that comes from above is in whole rows of
// the weights' gradient: no need to look at each.
constexpr int kMaxSamples = 1 << 16;

template <typename Dtype>
bool SampleIsFinite(int count, const Dtype* values) {
  if (count <= kMaxSamples) return cpu::AllFinite<Dtype>(count, values);
  const int step = 1 + (count - 1) / kMaxSamples;
  for (int i = 0; i < count; i += step) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

}  // namespace

template <typename Dtype>
Guard<Dtype>::Guard(const GuardParameter& param, Solver<Dtype>* solver,
                    ActivationStore<Dtype>* store)
    : param_(param),
      solver_(solver),
      net_(solver->net().get()),
      store_(store),
      trend_(param.window(), param.deviations()) {
  Require(param.factor() > 1, "compression.guard.factor must be above 1, not ",
          param.factor());
  Require(param.deviations() > 0,
          "compression.guard.deviations must be above 0, not ",
          param.deviations());
  Require(param.window() > 0, "compression.guard.window must be above 0, not ",
          param.window());
  Require(param.patience() >= 0 && param.recovery() >= 0,
          "compression.guard.patience and recovery must not be negative");
  if (param.action() == GuardParameter::WARN) return;
  for (const auto& layer : net_->layers()) {
    if (string(layer->type()) != "BatchNorm") continue;
    for (const auto& blob : layer->blobs())
      averages_.push_back({blob.get(), {}});
  }
}

template <typename Dtype>
void Guard<Dtype>::StartIteration() {
  for (auto& [blob, values] : averages_) {
    values.assign(blob->cpu_data(), blob->cpu_data() + blob->count());
  }
}

template <typename Dtype>
void Guard<Dtype>::UndoForward() {
  for (const auto& [blob, values] : averages_) {
    std::copy(values.begin(), values.end(), blob->mutable_cpu_data());
  }
}

template <typename Dtype>
bool Guard<Dtype>::AcceptsLoss(Dtype loss) {
  if (!std::isfinite(loss)) {
    return AcceptsNotFinite(
        Concat("the loss is ", loss, ", and ", FirstNotFinite()));
  }
  const bool is_high = loss > trend_.limit();
  // Every high loss of a row would be reported, and tightened for.
  if (is_high && !is_alarmed_) ReportHighLoss(loss);
  is_alarmed_ = is_high;
  trend_.Add(loss);
  state_.set_quiet(is_high ? 0 : state_.quiet() + 1);
  const int recovery = param_.recovery();
  if (state_.divisor() > 1 && recovery > 0 && state_.quiet() >= recovery) {
    state_.set_divisor(std::max(1.0, state_.divisor() / param_.factor()));
    state_.set_quiet(0);
    const string what = Concat("No alarm for ", recovery,
                               " batches: error bounds are divided by ",
                               state_.divisor(), " from now on");
    LOG(INFO) << what;
    solver_->TellObservers(
        [&](SolverObserver* o) { o->OnAlarm(solver_->iter(), what); });
  }
  return true;
}

template <typename Dtype>
bool Guard<Dtype>::AcceptsGradient(const ParamSlice<Dtype>& slice) {
  const Blob<Dtype>& blob = *net_->learnable_params()[slice.param_id];
  const bool is_first_of_many = slice.first == 0 && slice.count < blob.count();
  if (SampleIsFinite(slice.count, slice.diff) &&
      (!is_first_of_many || IsFiniteAbove(slice.param_id))) {
    return true;
  }
  for (size_t i = 0; i < net_->layers().size(); ++i) {
    const auto& blobs = net_->layers()[i]->blobs();
    for (size_t k = 0; k < blobs.size(); ++k) {
      if (blobs[k]->data() != blob.data()) continue;
      return AcceptsNotFinite(Concat("the gradient of parameter ", k,
                                     " of layer ", net_->layer_names()[i],
                                     " is not finite"));
    }
  }
  return AcceptsNotFinite("the gradient of a parameter is not finite");
}

template <typename Dtype>
bool Guard<Dtype>::IsFiniteAbove(int param_id) const {
  const SyncedMemory* const memory =
      net_->learnable_params()[param_id]->data().get();
  for (size_t i = 0; i < net_->layers().size(); ++i) {
    if (!net_->layer_need_backward()[i]) continue;
    for (const auto& blob : net_->layers()[i]->blobs()) {
      if (blob->data().get() != memory) continue;
      for (const Blob<Dtype>* top : net_->top_vecs()[i]) {
        if (!cpu::AllFinite<Dtype>(top->count(), top->cpu_diff())) return false;
      }
    }
  }
  return true;
}

template <typename Dtype>
bool Guard<Dtype>::IsFinite(const Blob<Dtype>& activation) const {
  bool is_finite = true;
  store_->Look(activation.data().get(), [&](const void* values) {
    is_finite =
        cpu::AllFinite(activation.count(), static_cast<const Dtype*>(values));
  });
  return is_finite;
}

template <typename Dtype>
std::string Guard<Dtype>::FirstNotFinite() const {
  for (size_t i = 0; i < net_->layers().size(); ++i) {
    const string& layer = net_->layer_names()[i];
    const auto& params = net_->layers()[i]->blobs();
    for (size_t k = 0; k < params.size(); ++k) {
      // Averages follow from the activations.
      const bool is_average = std::any_of(
          averages_.begin(), averages_.end(), [&](const auto& average) {
            return average.first == params[k].get();
          });
      if (is_average) continue;
      if (!cpu::AllFinite(params[k]->count(), params[k]->cpu_data())) {
        return Concat("so is parameter ", k, " of layer ", layer);
      }
    }
    const vector<int>& tops = net_->top_ids(static_cast<int>(i));
    for (const int top : tops) {
      if (!IsFinite(*net_->blobs()[top])) {
        return Concat("the first values like that are in blob ",
                      net_->blob_names()[top], " of layer ", layer);
      }
    }
  }
  return "nothing that is still there has such values";
}

template <typename Dtype>
std::string Guard<Dtype>::LargestLoss() const {
  string largest_layer;
  Dtype largest = -1;
  for (size_t i = 0; i < net_->layers().size(); ++i) {
    for (const int top : net_->top_ids(static_cast<int>(i))) {
      const Dtype weight = net_->blob_loss_weights()[top];
      if (weight == 0) continue;
      store_->Look(net_->blobs()[top]->data().get(), [&](const void* values) {
        const Dtype loss =
            std::fabs(weight * *static_cast<const Dtype*>(values));
        if (loss <= largest) return;
        largest = loss;
        largest_layer = net_->layer_names()[i];
      });
    }
  }
  return largest_layer;
}

template <typename Dtype>
void Guard<Dtype>::ReportHighLoss(Dtype loss) {
  const string what =
      Concat("the loss, ", loss, ", most of it of layer ", LargestLoss(),
             ", is far above its trend, ", trend_.mean());
  if (param_.action() == GuardParameter::STOP) Stop(what);
  if (param_.action() == GuardParameter::TIGHTEN) Tighten();
  Warn(param_.action() == GuardParameter::TIGHTEN
           ? Concat(what, "; error bounds are divided by ", state_.divisor())
           : what);
}

template <typename Dtype>
void Guard<Dtype>::Warn(const std::string& what) const {
  LOG(WARNING) << "Iteration " << solver_->iter() << ": " << what;
  solver_->TellObservers(
      [&](SolverObserver* o) { o->OnAlarm(solver_->iter(), what); });
}

template <typename Dtype>
bool Guard<Dtype>::AcceptsNotFinite(const std::string& what) {
  if (param_.action() == GuardParameter::WARN) {
    if (!is_alarmed_) Warn(what);
    is_alarmed_ = true;
    return true;
  }
  const int64_t update = solver_->updates();
  const int64_t last = state_.last_left_out();
  // Other gradients of the same update.
  if (last == update) return false;
  if (last != update - 1) state_.set_left_out(0);
  const bool is_hopeless = state_.left_out() >= param_.patience();
  if (param_.action() == GuardParameter::STOP || is_hopeless) Stop(what);
  UndoForward();
  Tighten();
  state_.set_left_out(state_.left_out() + 1);
  state_.set_last_left_out(update);
  Warn(Concat(what,
              "; its update is left out, and error bounds are divided by ",
              state_.divisor()));
  return false;
}

template <typename Dtype>
void Guard<Dtype>::Tighten() {
  // Beyond that errors are as small as those of any sum of floats.
  constexpr double kLargest = 1 << 20;
  state_.set_divisor(std::min(kLargest, state_.divisor() * param_.factor()));
  state_.set_quiet(0);
}

template <typename Dtype>
void Guard<Dtype>::Stop(const std::string& why) {
  UndoForward();
  const string& prefix = solver_->param().snapshot_prefix();
  if (!prefix.empty()) solver_->Snapshot();
  Fail("training was stopped in iteration ", solver_->iter(), ": ", why, "; ",
       prefix.empty() ? "without a snapshot_prefix there is no snapshot"
                      : Concat("the snapshot ", prefix, "_iter_",
                               solver_->iter(), " is of the state before"));
}

template <typename Dtype>
GuardState Guard<Dtype>::SaveState() const {
  GuardState state = state_;
  *state.mutable_trend() = trend_.state();
  state.set_is_alarmed(is_alarmed_);
  return state;
}

template <typename Dtype>
void Guard<Dtype>::RestoreState(const GuardState& state) {
  Require(state.divisor() >= 1 && std::isfinite(state.divisor()) &&
              state.trend().losses() >= 0,
          "the state of compression's guard is damaged");
  state_ = state;
  trend_.Restore(state.trend());
  is_alarmed_ = state.is_alarmed();
}

template class Guard<float>;
template class Guard<double>;

}  // namespace caffe
