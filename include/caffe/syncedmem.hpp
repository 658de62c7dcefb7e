#ifndef CAFFE_SYNCEDMEM_HPP_
#define CAFFE_SYNCEDMEM_HPP_

#include <atomic>

#include "caffe/common.hpp"
#include "caffe/memory/ledger.hpp"

namespace caffe {

// Host memory aligned for every SIMD target. Throws Error when there is none
// left. `use_cuda` tells whether the memory was pinned for a device.
void CaffeMallocHost(void** ptr, size_t size, bool* use_cuda);
void CaffeFreeHost(void* ptr, bool use_cuda);

class SyncedMemory;

// Looks after memory whose values have been put away, packed or dropped.
class MemoryKeeper {
 public:
  virtual ~MemoryKeeper() = default;
  // Gives the memory its values back, with set_cpu_data(). Throws Error, saying
  // whose they were, when they are gone for good.
  virtual void Restore(SyncedMemory* memory) = 0;
  // Copies the values, and leaves them put away where that is possible. Throws
  // Error as Restore does.
  virtual void CopyTo(SyncedMemory* memory, void* values);
};

// A run of bytes that lives on the host, on the device, or on both, and copies
// itself where it is asked for. It allocates when first touched and starts as
// zeros. Its identity is what Blobs share. Not thread-safe.
class SyncedMemory {
 public:
  SyncedMemory();
  explicit SyncedMemory(size_t size);
  ~SyncedMemory();

  const void* cpu_data();
  // Uses the caller's memory from now on; it must outlive this object. Pinned
  // memory stays where it is, and takes the values over.
  void set_cpu_data(void* data);
  const void* gpu_data();
  void set_gpu_data(void* data);
  void* mutable_cpu_data();
  void* mutable_gpu_data();

  // Lets go of the memory, whoever owns it, unless it is pinned. The keeper is
  // asked for the values when somebody wants them; until then it must outlive
  // this object.
  void Evict(MemoryKeeper* keeper);
  bool is_evicted() const { return keeper_ != nullptr; }
  // Copies the values; what has been put away stays so.
  void CopyTo(void* values);
  // Lets go of the memory and of its values: it starts again, as zeros, when
  // touched. Pinned memory becomes zeros where it is.
  void Forget();
  // Whether a MemoryPin holds it in its place.
  bool is_pinned() const { return pins_ > 0; }

  enum SyncedHead { UNINITIALIZED, HEAD_AT_CPU, HEAD_AT_GPU, SYNCED };
  SyncedHead head() const { return head_; }
  size_t size() const { return size_; }

  // What the memory is for, in reports.
  const memory::Label& label() const { return label_; }
  void set_label(memory::Label label);

  // Other memory that holds the same values, for layers that must keep them
  // when others work in place: one copy serves all. Whoever made the copy
  // tells; it is forgotten when this memory is written to. nullptr if there is
  // none, or if somebody may write unnoticed, through a pin.
  shared_ptr<SyncedMemory> twin() const { return twin_.lock(); }
  // REQUIRES: the twin changes only after this memory has.
  void set_twin(const shared_ptr<SyncedMemory>& twin) {
    if (!is_pinned()) twin_ = twin;
  }

 private:
  friend class MemoryPin;

  void Recall();
  void FreeAll();
  void AllocateHost();
  // Moves the host's values into memory of its own, unless they are there.
  void Settle();
  void ToHost();
  void ToDevice();
  void FreeHost();
  void FreeDevice();

  void* cpu_ptr_ = nullptr;
  void* gpu_ptr_ = nullptr;
  size_t size_ = 0;
  SyncedHead head_ = UNINITIALIZED;
  boost::weak_ptr<SyncedMemory> twin_;
  memory::Label label_;
  MemoryKeeper* keeper_ = nullptr;
  std::atomic<int> pins_ = 0;
  bool own_cpu_data_ = false;
  bool own_gpu_data_ = false;
  bool cpu_malloc_use_cuda_ = false;

  DISABLE_COPY_AND_ASSIGN(SyncedMemory);
};

// Holds the host's values in one place, for somebody outside who keeps their
// address (an array in Python): as long as a pin is there, the address is valid
// and shows what the memory holds. May be made only by the thread that uses the
// memory, but end on any.
class MemoryPin {
 public:
  // Gets values back that have been put away. Throws Error when they are gone.
  explicit MemoryPin(shared_ptr<SyncedMemory> memory);
  ~MemoryPin();
  MemoryPin(const MemoryPin&) = delete;
  MemoryPin& operator=(const MemoryPin&) = delete;

  void* data() const { return data_; }

 private:
  const shared_ptr<SyncedMemory> memory_;
  void* data_;
};

}  // namespace caffe

#endif  // CAFFE_SYNCEDMEM_HPP_
