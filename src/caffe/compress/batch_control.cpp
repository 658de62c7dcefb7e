#include "compress/batch_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>

#include "caffe/memory/bytes.hpp"
#include "caffe/sgd_solvers.hpp"

namespace caffe {

namespace {

using memory::ReadableBytes;

// How well tensors pack, and what kernels need, before anybody knows.
constexpr double kFirstRatio = 3;
constexpr double kFirstWorkspace = 32 << 20;
// What memory is rounded up to that differs a little from run to run.
constexpr double kGrain = 4 << 20;
// A forecast that is farther off is no forecast.
constexpr double kLargestCorrection = 3;

// What the process has: pages of its own, and of files, such as its code. Pages
// of a database come and go as the system likes.
struct Pages {
  double own = 0;
  double of_files = 0;
};

Pages PagesOfProcess() {
  std::ifstream statm("/proc/self/statm");
  double addresses = 0;
  double resident = 0;
  double shared = 0;
  statm >> addresses >> resident >> shared;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return {(resident - shared) * page, shared * page};
}

// What is there of batches that the training net reads ahead; what test nets
// read does not change.
size_t LiveData(const ActivationForecast& forecast) {
  const memory::Sums live = memory::Ledger::Get().live();
  return std::min(live[static_cast<size_t>(memory::Kind::kData)],
                  forecast.data);
}

bool IsUntouched(const SyncedMemory& memory) {
  return memory.head() == SyncedMemory::UNINITIALIZED;
}

}  // namespace

template <typename Dtype>
std::unique_ptr<BatchControl<Dtype>> BatchControl<Dtype>::Make(
    Solver<Dtype>* solver, shared_ptr<ActivationMemory> memory,
    shared_ptr<const ActivationStore<Dtype>> store) {
  const CompressionParameter& param = solver->param().compression();
  if (!param.batch_size().adapt()) return nullptr;
  Require(param.has_memory_budget(),
          "compression.batch_size needs a memory_budget beside it, such as "
          "memory_budget: \"4GiB\"");
  const Net<Dtype>& net = *solver->net();
  std::vector<Source> sources;
  for (size_t i = 0; i < net.layers().size(); ++i) {
    if (!net.bottom_vecs()[i].empty()) continue;
    auto* const source =
        dynamic_cast<BatchSource<Dtype>*>(net.layers()[i].get());
    Require(source != nullptr && source->batch_size() > 0, "layer '",
            net.layer_names()[i], "' (", net.layers()[i]->type(),
            ") cannot change its batch size, as compression.batch_size asks");
    Require(sources.empty() ||
                source->batch_size() == sources[0].layer->batch_size(),
            "compression.batch_size needs one batch size, but layer '",
            net.layer_names()[i], "' has ", source->batch_size(),
            " images where another has ",
            sources.empty() ? 0 : sources[0].layer->batch_size());
    sources.push_back({source, static_cast<int>(i)});
  }
  return std::unique_ptr<BatchControl>(new BatchControl(
      solver, std::move(memory), std::move(store), std::move(sources)));
}

template <typename Dtype>
BatchControl<Dtype>::BatchControl(
    Solver<Dtype>* solver, shared_ptr<ActivationMemory> memory,
    shared_ptr<const ActivationStore<Dtype>> store, std::vector<Source> sources)
    : solver_(solver),
      net_(solver->net().get()),
      memory_(std::move(memory)),
      store_(std::move(store)),
      sources_(std::move(sources)),
      rule_(solver->param().compression().batch_size(),
            memory::ParseBytes(solver->param().compression().memory_budget()),
            sources_.empty() ? 0 : sources_[0].layer->batch_size()),
      longest_interval_(solver->param().compression().error_bound().interval()),
      test_bytes_(ForecastTests()),
      program_bytes_(PagesOfProcess().of_files),
      applied_(rule_.configured()),
      ratio_(kFirstRatio) {}

template <typename Dtype>
MemoryUse BatchControl<Dtype>::Use() const {
  const bool compresses = solver_->param().compression().codec() != "none";
  return compresses ? MemoryUse::kCompressed : MemoryUse::kPlanned;
}

// Test nets use the memory of the training net while that does not run.
template <typename Dtype>
double BatchControl<Dtype>::ForecastTests() const {
  size_t most = 0;
  for (const auto& net : solver_->test_nets()) {
    ForecastSettings settings;
    settings.use = Use();
    settings.passes = Passes::kForwardOnly;
    most = std::max(most, ForecastActivations(*net, settings).raw);
  }
  return static_cast<double>(most);
}

template <typename Dtype>
void BatchControl<Dtype>::Apply(int batch_size) {
  for (const Source& source : sources_) {
    source.layer->SetBatchSize(batch_size, net_->top_vecs()[source.index]);
  }
  net_->Reshape();
  applied_ = batch_size;
}

template <typename Dtype>
int BatchControl<Dtype>::StartIteration(int64_t most, int64_t updates) {
  if (batch_size_ == 0) {
    fixed_bytes_ = GuessFixedBytes();
    batch_size_ = configured();
    Change(rule_.First(MakeForecast()));
  }
  if (updates + 1 >= next_check_) {
    memory_->raw.ResetPeak();
    memory_->packing.frames().ResetPeak();
    for (const ActivationReport& report : store_->Reports()) {
      reports_[report.name] = report;
    }
  }
  // The few images before a test or snapshot keep the memory of the others.
  const int images = static_cast<int>(std::min<int64_t>(batch_size_, most));
  if (images != applied_) Apply(images);
  return images;
}

template <typename Dtype>
void BatchControl<Dtype>::EndIteration(int64_t updates) {
  const bool is_tight =
      PagesOfProcess().own + program_bytes_ > rule_.upper_limit();
  if (applied_ != batch_size_ || (updates < next_check_ && !is_tight)) return;
  UpdateRatios();
  Correct(Forecast());
  const int before = batch_size_;
  Change(rule_.Next(batch_size_, MakeForecast()));
  // What did not fit is not tried again soon.
  if (batch_size_ < before) {
    check_interval_ = longest_interval_;
  } else if (batch_size_ > before) {
    check_interval_ = 1;
  } else {
    check_interval_ = std::min<int64_t>(2 * check_interval_, longest_interval_);
  }
  next_check_ = updates + check_interval_;
  // It may be that only an earlier iteration took more.
  if (is_tight && batch_size_ == before) TrimMemory();
}

template <typename Dtype>
void BatchControl<Dtype>::TrimMemory() {
  memory_->raw.Trim();
  memory_->packing.frames().Trim();
}

template <typename Dtype>
void BatchControl<Dtype>::Change(const BatchSizeRule::Choice& choice) {
  if (choice.batch_size == batch_size_) return;
  LOG(INFO) << "Batch size " << batch_size_ << " -> " << choice.batch_size
            << ": " << choice.reason << ", the budget "
            << ReadableBytes(static_cast<double>(rule_.budget()));
  const BatchSizeChange change = {solver_->iter(), batch_size_,
                                  choice.batch_size, choice.reason};
  solver_->TellObservers([&](SolverObserver* o) { o->OnBatchSize(change); });
  batch_size_ = choice.batch_size;
  const TightReshape tight;
  Apply(batch_size_);
  TrimMemory();
}

template <typename Dtype>
ActivationForecast BatchControl<Dtype>::Forecast() {
  // Layers may have the shapes of a part of the batch.
  net_->Reshape();
  ForecastSettings settings;
  settings.use = Use();
  settings.updates_in_backward = solver_->CanUpdateInBackward();
  settings.ratio = [this](const string& tensor, const vector<int>&) {
    const auto found = ratios_.find(tensor);
    return found == ratios_.end() ? ratio_ : found->second;
  };
  return ForecastActivations(*net_, settings);
}

template <typename Dtype>
ActivationForecast BatchControl<Dtype>::ForecastFor(int batch_size) {
  const TightReshape tight;
  vector<vector<int>> shapes;
  const auto for_each_top = [&](auto work) {
    for (const Source& source : sources_) {
      for (Blob<Dtype>* top : net_->top_vecs()[source.index]) work(top);
    }
  };
  for_each_top([&](Blob<Dtype>* top) { shapes.push_back(top->shape()); });
  const auto go_back = [&] {
    size_t i = 0;
    for_each_top([&](Blob<Dtype>* top) { top->Reshape(shapes[i++]); });
    // Fills again what has been filled once.
    Apply(applied_);
  };
  ActivationForecast forecast;
  try {
    for_each_top([&](Blob<Dtype>* top) {
      vector<int> shape = top->shape();
      if (shape.empty() || shape[0] != applied_) return;
      shape[0] = batch_size;
      top->Reshape(shape);
    });
    forecast = Forecast();
  } catch (const Error&) {
    go_back();
    throw;
  }
  go_back();
  return forecast;
}

template <typename Dtype>
BatchForecast BatchControl<Dtype>::MakeForecast() {
  const auto bytes_of = [this](const ActivationForecast& forecast) {
    return correction_ * static_cast<double>(forecast.raw + forecast.packed) +
           static_cast<double>(forecast.layers + forecast.data);
  };
  // Each size by itself: what runs over parts of the batch does not grow with
  // it.
  const auto known = std::make_shared<std::map<int, double>>();
  return [=, this](int batch_size) {
    const auto [found, is_new] =
        known->try_emplace(batch_size, std::numeric_limits<double>::infinity());
    if (is_new) {
      try {
        found->second = bytes_of(ForecastFor(batch_size));
      } catch (const Error& error) {
        LOG(INFO) << "The batch cannot have " << batch_size
                  << " images: " << error.what();
      }
    }
    return fixed_bytes_ + std::max(found->second, test_bytes_);
  };
}

template <typename Dtype>
void BatchControl<Dtype>::UpdateRatios() {
  double all_raw = 0;
  double all_kept = 0;
  for (const ActivationReport& report : store_->Reports()) {
    if (report.kept != "packed") continue;
    ActivationReport before = reports_[report.name];
    // The tensor is another since the batch has changed.
    if (before.times >= report.times) before = ActivationReport();
    const auto raw = static_cast<double>(report.raw_bytes - before.raw_bytes);
    const auto kept =
        static_cast<double>(report.kept_bytes - before.kept_bytes);
    if (kept <= 0) continue;
    ratios_[report.name] = raw / kept;
    all_raw += raw;
    all_kept += kept;
  }
  if (all_kept > 0) ratio_ = all_raw / all_kept;
}

template <typename Dtype>
void BatchControl<Dtype>::Correct(const ActivationForecast& forecast) {
  const memory::Arena& raw = memory_->raw;
  const memory::Arena& frames = memory_->packing.frames();
  const auto expected = static_cast<double>(forecast.raw + forecast.packed);
  correction_ =
      std::clamp(static_cast<double>(raw.peak() + frames.peak()) / expected,
                 1 / kLargestCorrection, kLargestCorrection);
  const double variable = static_cast<double>(
      raw.touched() + frames.touched() + LiveData(forecast) + forecast.layers);
  const double fixed = PagesOfProcess().own + program_bytes_ - variable;
  const double rounded = std::ceil(fixed / kGrain) * kGrain;
  fixed_bytes_ = is_measured_ ? std::max(fixed_bytes_, rounded) : rounded;
  is_measured_ = true;
}

template <typename Dtype>
double BatchControl<Dtype>::GuessFixedBytes() {
  double bytes = PagesOfProcess().own + program_bytes_ -
                 static_cast<double>(LiveData(Forecast())) + kFirstWorkspace;
  const auto add = [&](const SyncedMemory& memory) {
    if (IsUntouched(memory)) bytes += static_cast<double>(memory.size());
  };
  for (const Blob<Dtype>* param : net_->learnable_params()) {
    add(*param->diff());
  }
  if (auto* const sgd = dynamic_cast<SGDSolver<Dtype>*>(solver_)) {
    for (size_t i = 0; i < sgd->history().size(); ++i) {
      if (!IsUntouched(*sgd->history()[i]->data())) continue;
      bytes += static_cast<double>(sgd->HistoryBytes(static_cast<int>(i)));
    }
  }
  return bytes;
}

template <typename Dtype>
void BatchControl<Dtype>::SaveState(BatchState* state) const {
  state->set_size(batch_size_);
  state->set_next_check(next_check_);
  state->set_check_interval(check_interval_);
  if (is_measured_) {
    state->set_fixed_bytes(static_cast<uint64_t>(fixed_bytes_));
  }
}

template <typename Dtype>
void BatchControl<Dtype>::RestoreState(const BatchState& state) {
  if (state.size() <= 0) return;
  batch_size_ = state.size();
  next_check_ = std::max<int64_t>(1, state.next_check());
  check_interval_ =
      std::clamp<int64_t>(state.check_interval(), 1, longest_interval_);
  fixed_bytes_ = static_cast<double>(state.fixed_bytes());
  is_measured_ = state.has_fixed_bytes();
  const TightReshape tight;
  Apply(batch_size_);
}

template class BatchControl<float>;
template class BatchControl<double>;

}  // namespace caffe
