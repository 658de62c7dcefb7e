#ifndef CAFFE_SYNCEDMEM_HPP_
#define CAFFE_SYNCEDMEM_HPP_

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
  // Uses the caller's memory from now on; it must outlive this object.
  void set_cpu_data(void* data);
  const void* gpu_data();
  void set_gpu_data(void* data);
  void* mutable_cpu_data();
  void* mutable_gpu_data();

  // Lets go of the memory, whoever owns it. The keeper is asked for the values
  // when somebody wants them; until then it must outlive this object.
  void Evict(MemoryKeeper* keeper);
  bool is_evicted() const { return keeper_ != nullptr; }
  // Lets go of the memory and of its values: it starts again, as zeros, when
  // touched.
  void Forget();

  enum SyncedHead { UNINITIALIZED, HEAD_AT_CPU, HEAD_AT_GPU, SYNCED };
  SyncedHead head() const { return head_; }
  size_t size() const { return size_; }

  // What the memory is for, in reports.
  const memory::Label& label() const { return label_; }
  void set_label(memory::Label label);

  // Other memory that holds the same values, for layers that must keep them
  // when others work in place: one copy serves all. Whoever made the copy
  // tells; it is forgotten when this memory is written to. nullptr if there is
  // none.
  shared_ptr<SyncedMemory> twin() const { return twin_.lock(); }
  // REQUIRES: the twin changes only after this memory has.
  void set_twin(const shared_ptr<SyncedMemory>& twin) { twin_ = twin; }

 private:
  void Recall();
  void FreeAll();
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
  bool own_cpu_data_ = false;
  bool own_gpu_data_ = false;
  bool cpu_malloc_use_cuda_ = false;

  DISABLE_COPY_AND_ASSIGN(SyncedMemory);
};

}  // namespace caffe

#endif  // CAFFE_SYNCEDMEM_HPP_
