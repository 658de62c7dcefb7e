#include "solvers/backward_updates.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace caffe {

namespace {

// Keeps nothing of gradients, which may outlive whoever dropped them.
class DroppedGradients : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* memory) override {
    Fail("the gradient of parameter ", memory->label().name,
         " was dropped after its update; memory { plan: false } in the net "
         "keeps it");
  }
};
DroppedGradients dropped_gradients;

// A gradient is computed, and used up, in slices of about so many bytes: they
// stay in the processor's cache, and products of matrices are still fast.
constexpr int64_t kSliceBytes = 4 << 20;

// Rows in such a slice of a parameter; 0 when all of it is no larger.
template <typename Dtype>
int RowsInSlice(const Blob<Dtype>& param) {
  if (static_cast<int64_t>(param.count() * sizeof(Dtype)) <= kSliceBytes) {
    return 0;
  }
  const int row = param.count(1);
  // So that slices are aligned, and kernels find the same blocks of rows as in
  // the whole: then sums have the same bits.
  constexpr int kBlockRows = 16;
  const int step =
      std::max(kBlockRows, ParamSlice<Dtype>::kAlignment /
                               std::gcd(row, ParamSlice<Dtype>::kAlignment));
  const auto rows = kSliceBytes / static_cast<int64_t>(row * sizeof(Dtype));
  const int aligned = std::max(1, static_cast<int>(rows / step)) * step;
  return aligned < param.shape(0) ? aligned : 0;
}

}  // namespace

template <typename Dtype>
std::vector<ParamUse> FindParamUses(const Net<Dtype>& net) {
  std::vector<ParamUse> uses;
  for (const Blob<Dtype>* param : net.learnable_params()) {
    ParamUse use;
    int users = 0;
    for (int i = 0; i < static_cast<int>(net.layers().size()); ++i) {
      const vector<shared_ptr<Blob<Dtype>>>& blobs = net.layers()[i]->blobs();
      for (size_t k = 0; k < blobs.size(); ++k) {
        const bool is_user = blobs[k]->data() == param->data() ||
                             blobs[k]->diff() == param->diff();
        if (!is_user) continue;
        ++users;
        if (use.lowest_layer < 0) use.lowest_layer = i;
        use.highest_layer = i;
        use.index_in_layer = static_cast<int>(k);
        use.is_managed &= net.layers()[i]->backward_reads().is_declared;
      }
    }
    if (users == 1 && use.is_managed) {
      const Layer<Dtype>& layer = *net.layers()[use.lowest_layer];
      // What runs over parts of the batch needs all of it for all of them.
      const bool can_slice = layer.has_row_gradients(use.index_in_layer) &&
                             !layer.works_per_image() &&
                             !param->diff()->is_pinned() &&
                             !layer.gathers_first();
      if (can_slice) use.rows_at_a_time = RowsInSlice(*param);
    }
    uses.push_back(use);
  }
  return uses;
}

template <typename Dtype>
class BackwardUpdates<Dtype>::Hook : public Net<Dtype>::Callback {
 public:
  using Method = void (BackwardUpdates::*)(int);
  Hook(BackwardUpdates* updates, Method method)
      : updates_(updates), method_(method) {}

 protected:
  void run(int layer) override {
    if (updates_->update_ != nullptr) (updates_->*method_)(layer);
  }
  bool sees_parts() const override { return true; }

 private:
  BackwardUpdates* const updates_;
  const Method method_;
};

template <typename Dtype>
shared_ptr<BackwardUpdates<Dtype>> BackwardUpdates<Dtype>::Attach(
    Net<Dtype>* net, shared_ptr<memory::Arena> arena) {
  shared_ptr<BackwardUpdates> updates(
      new BackwardUpdates(net, std::move(arena)));
  const auto hook = [&](typename Hook::Method method) {
    updates->hooks_.push_back(std::make_unique<Hook>(updates.get(), method));
    return updates->hooks_.back().get();
  };
  net->add_before_backward(hook(&BackwardUpdates::BeforeBackward));
  net->add_after_backward(hook(&BackwardUpdates::AfterBackward));
  net->KeepAlive(updates);
  return updates;
}

template <typename Dtype>
BackwardUpdates<Dtype>::BackwardUpdates(Net<Dtype>* net,
                                        shared_ptr<memory::Arena> arena)
    : net_(net), arena_(std::move(arena)) {}

template <typename Dtype>
BackwardUpdates<Dtype>::~BackwardUpdates() {
  DropAll();
}

template <typename Dtype>
void BackwardUpdates<Dtype>::RunBackward(const Update& update, bool in_slices) {
  // What is left of a Backward that failed.
  DropAll();
  uses_ = FindParamUses(*net_);
  if (!in_slices) {
    for (ParamUse& use : uses_) use.rows_at_a_time = 0;
  }
  gradients_.clear();
  for (const Blob<Dtype>* param : net_->learnable_params()) {
    gradients_.push_back({.memory = param->diff()});
  }
  update_ = &update;
  for (const ParamUse& use : uses_) LeaveToRows(use, true);
  const auto end = [&] {
    for (const ParamUse& use : uses_) LeaveToRows(use, false);
    update_ = nullptr;
  };
  try {
    net_->Backward();
  } catch (...) {
    end();
    throw;
  }
  end();
}

template <typename Dtype>
void BackwardUpdates<Dtype>::LeaveToRows(const ParamUse& use, bool on) const {
  if (use.rows_at_a_time == 0) return;
  net_->layers()[use.lowest_layer]->set_leaves_to_rows(use.index_in_layer, on);
}

template <typename Dtype>
void BackwardUpdates<Dtype>::BeforeBackward(int layer) {
  for (size_t id = 0; id < uses_.size(); ++id) {
    if (uses_[id].highest_layer != layer || !uses_[id].is_managed) continue;
    Gradient& gradient = gradients_[id];
    if (uses_[id].rows_at_a_time > 0) {
      // For whoever thinks that all of it is there.
      gradient.memory->Evict(&dropped_gradients);
      continue;
    }
    // From an earlier part of the batch.
    if (gradient.block != nullptr) continue;
    // Stays where it is; it was cleared when the iteration began.
    if (gradient.memory->is_pinned()) continue;
    const size_t bytes = gradient.memory->size();
    gradient.block = arena_->Allocate(bytes, gradient.memory->label());
    std::memset(gradient.block, 0, bytes);
    gradient.memory->set_cpu_data(gradient.block);
  }
}

template <typename Dtype>
void BackwardUpdates<Dtype>::AfterBackward(int layer) {
  if (!net_->is_at_last_part()) return;
  for (size_t id = 0; id < uses_.size(); ++id) {
    if (uses_[id].lowest_layer != layer) continue;
    if (uses_[id].rows_at_a_time > 0) {
      UpdateInSlices(static_cast<int>(id));
    } else {
      UpdateWhole(static_cast<int>(id));
    }
  }
}

template <typename Dtype>
void BackwardUpdates<Dtype>::UpdateWhole(int id) {
  Blob<Dtype>* const param = net_->learnable_params()[id];
  (*update_)({id, 0, param->count(), param->mutable_cpu_diff()});
  Drop(&gradients_[id]);
}

template <typename Dtype>
void BackwardUpdates<Dtype>::UpdateInSlices(int id) {
  const ParamUse& use = uses_[id];
  const Blob<Dtype>& param = *net_->learnable_params()[id];
  Layer<Dtype>* const layer = net_->layers()[use.lowest_layer].get();
  const bool has_gradient = net_->layer_need_backward()[use.lowest_layer] &&
                            layer->param_propagate_down(use.index_in_layer);
  const int row = param.count(1);
  Gradient& gradient = gradients_[id];
  gradient.block = arena_->Allocate(
      static_cast<size_t>(use.rows_at_a_time) * row * sizeof(Dtype),
      gradient.memory->label());
  auto* const diff = static_cast<Dtype*>(gradient.block);
  for (int first = 0; first < param.shape(0); first += use.rows_at_a_time) {
    const int rows = std::min(use.rows_at_a_time, param.shape(0) - first);
    caffe_set(rows * row, Dtype(0), diff);
    if (has_gradient) {
      layer->AddRowGradients(
          use.index_in_layer, net_->working_tops(use.lowest_layer),
          net_->working_bottoms(use.lowest_layer), first, rows, diff);
    }
    if (!(*update_)({id, first * row, rows * row, diff})) break;
  }
  Drop(&gradient);
}

template <typename Dtype>
void BackwardUpdates<Dtype>::Drop(Gradient* gradient) {
  if (gradient->block == nullptr) return;
  gradient->memory->Evict(&dropped_gradients);
  arena_->Free(std::exchange(gradient->block, nullptr));
}

template <typename Dtype>
void BackwardUpdates<Dtype>::DropAll() {
  for (Gradient& gradient : gradients_) Drop(&gradient);
}

template std::vector<ParamUse> FindParamUses(const Net<float>& net);
template std::vector<ParamUse> FindParamUses(const Net<double>& net);
template class BackwardUpdates<float>;
template class BackwardUpdates<double>;

}  // namespace caffe
