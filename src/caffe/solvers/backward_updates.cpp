#include "solvers/backward_updates.hpp"

#include <algorithm>
#include <cstring>
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

}  // namespace

template <typename Dtype>
std::vector<ParamUse> FindParamUses(const Net<Dtype>& net) {
  std::vector<ParamUse> uses;
  for (const Blob<Dtype>* param : net.learnable_params()) {
    ParamUse use;
    for (int i = 0; i < static_cast<int>(net.layers().size()); ++i) {
      const vector<shared_ptr<Blob<Dtype>>>& blobs = net.layers()[i]->blobs();
      const bool is_user = std::any_of(
          blobs.begin(), blobs.end(), [&](const shared_ptr<Blob<Dtype>>& blob) {
            return blob->data() == param->data() ||
                   blob->diff() == param->diff();
          });
      if (!is_user) continue;
      if (use.lowest_layer < 0) use.lowest_layer = i;
      use.highest_layer = i;
      use.is_managed &= net.layers()[i]->backward_reads().is_declared;
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
void BackwardUpdates<Dtype>::RunBackward(const Update& update) {
  // What is left of a Backward that failed.
  DropAll();
  uses_ = FindParamUses(*net_);
  gradients_.clear();
  for (const Blob<Dtype>* param : net_->learnable_params()) {
    gradients_.push_back({.memory = param->diff()});
  }
  update_ = &update;
  try {
    net_->Backward();
  } catch (...) {
    update_ = nullptr;
    throw;
  }
  update_ = nullptr;
}

template <typename Dtype>
void BackwardUpdates<Dtype>::BeforeBackward(int layer) {
  for (size_t id = 0; id < uses_.size(); ++id) {
    if (uses_[id].highest_layer != layer || !uses_[id].is_managed) continue;
    Gradient& gradient = gradients_[id];
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
    (*update_)(static_cast<int>(id));
    Drop(&gradients_[id]);
  }
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
