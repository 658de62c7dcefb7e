#ifndef CAFFE_COMPRESS_GRADIENT_SLOTS_HPP_
#define CAFFE_COMPRESS_GRADIENT_SLOTS_HPP_

#include <memory>
#include <string>
#include <unordered_map>

#include "caffe/memory/arena.hpp"
#include "caffe/syncedmem.hpp"

namespace caffe {

// Memory for gradients of activations, which live from the layer whose Backward
// writes them to the one that reads them. The arena must outlive it.
class GradientSlots {
 public:
  // The keeper is asked when somebody reads a gradient that has been dropped.
  GradientSlots(memory::Arena* arena, MemoryKeeper* keeper)
      : arena_(arena), keeper_(keeper) {}
  GradientSlots(const GradientSlots&) = delete;
  GradientSlots& operator=(const GradientSlots&) = delete;

  // Gives the gradient memory, unless it has some; zeros or no particular
  // values.
  void Place(const shared_ptr<SyncedMemory>& memory, const std::string& name,
             bool zero);
  void Drop(const SyncedMemory* memory);
  // Drops all, and forgets those that nobody else has any more.
  void Clear();
  // For good: from now on another keeper is asked.
  void Abandon(MemoryKeeper* keeper);

  // Whose gradient it was, or an empty name.
  std::string NameOf(const SyncedMemory* memory) const;

 private:
  struct Slot {
    shared_ptr<SyncedMemory> memory;
    void* block = nullptr;
    std::string name;
  };

  void Free(Slot* slot);

  memory::Arena* const arena_;
  MemoryKeeper* const keeper_;
  std::unordered_map<const SyncedMemory*, Slot> slots_;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_GRADIENT_SLOTS_HPP_
