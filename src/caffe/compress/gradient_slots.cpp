#include "caffe/compress/gradient_slots.hpp"

#include <cstring>
#include <iterator>

namespace caffe {

void GradientSlots::Free(Slot* slot) {
  if (slot->block == nullptr) return;
  arena_->Free(slot->block);
  slot->block = nullptr;
  slot->memory->Evict(keeper_);
}

void GradientSlots::Place(const shared_ptr<SyncedMemory>& memory,
                          const std::string& name, bool zero) {
  Slot& slot = slots_[memory.get()];
  if (slot.block != nullptr) return;
  slot.memory = memory;
  slot.name = name;
  slot.block =
      arena_->Allocate(memory->size(), {memory::Kind::kGradients, name});
  memory->set_cpu_data(slot.block);
  if (zero) std::memset(slot.block, 0, memory->size());
}

void GradientSlots::Drop(const SyncedMemory* memory) {
  const auto found = slots_.find(memory);
  if (found != slots_.end()) Free(&found->second);
}

void GradientSlots::Clear() {
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    Free(&slot->second);
    const bool is_orphan = slot->second.memory.use_count() == 1;
    slot = is_orphan ? slots_.erase(slot) : std::next(slot);
  }
}

void GradientSlots::Abandon(MemoryKeeper* keeper) {
  for (auto& [memory, slot] : slots_) {
    Free(&slot);
    slot.memory->Evict(keeper);
  }
  slots_.clear();
}

std::string GradientSlots::NameOf(const SyncedMemory* memory) const {
  const auto found = slots_.find(memory);
  return found == slots_.end() ? std::string() : found->second.name;
}

}  // namespace caffe
