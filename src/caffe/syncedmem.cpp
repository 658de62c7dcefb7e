#include "caffe/syncedmem.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "device.hpp"

namespace caffe {

namespace {

// One cache line, and the widest vector register.
constexpr size_t kAlignment = 64;
// What the kernel can map as one page if it is told that it pays.
constexpr size_t kHugePage = 2 << 20;

}  // namespace

void CaffeMallocHost(void** ptr, size_t size, bool* use_cuda) {
  const bool is_huge = size >= 2 * kHugePage;
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const int failed =
      posix_memalign(ptr, is_huge ? kHugePage : kAlignment, rounded);
  Require(failed == 0, "out of memory: cannot allocate ", size, " bytes");
  // Whole pages only: the rest would take memory that nobody uses. Advice that
  // is not taken does no harm.
  if (is_huge) madvise(*ptr, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  *use_cuda = false;
}

void CaffeFreeHost(void* ptr, bool /*use_cuda*/) { std::free(ptr); }

void MemoryKeeper::CopyTo(SyncedMemory* memory, void* values) {
  Restore(memory);
  std::memcpy(values, memory->cpu_data(), memory->size());
}

SyncedMemory::SyncedMemory() = default;
SyncedMemory::SyncedMemory(size_t size) : size_(size) {}

SyncedMemory::~SyncedMemory() { FreeAll(); }

void SyncedMemory::FreeHost() {
  if (own_cpu_data_) {
    memory::Ledger::Get().Remove(cpu_ptr_);
    CaffeFreeHost(cpu_ptr_, cpu_malloc_use_cuda_);
  }
  own_cpu_data_ = false;
}

void SyncedMemory::FreeDevice() {
  if (own_gpu_data_) device::Free(gpu_ptr_);
  own_gpu_data_ = false;
}

void SyncedMemory::FreeAll() {
  FreeHost();
  FreeDevice();
  cpu_ptr_ = nullptr;
  gpu_ptr_ = nullptr;
}

void SyncedMemory::set_label(memory::Label label) {
  label_ = std::move(label);
  if (own_cpu_data_) memory::Ledger::Get().Add(cpu_ptr_, size_, label_);
}

void SyncedMemory::Evict(MemoryKeeper* keeper) {
  CHECK(keeper);
  if (is_pinned()) return;
  FreeAll();
  keeper_ = keeper;
}

void SyncedMemory::Forget() {
  if (is_pinned()) {
    std::memset(mutable_cpu_data(), 0, size_);
    return;
  }
  FreeAll();
  twin_.reset();
  keeper_ = nullptr;
  head_ = UNINITIALIZED;
}

void SyncedMemory::Recall() {
  if (keeper_ == nullptr) return;
  keeper_->Restore(this);
  CHECK(keeper_ == nullptr) << "the keeper of memory did not restore it";
}

void SyncedMemory::AllocateHost() {
  CaffeMallocHost(&cpu_ptr_, size_, &cpu_malloc_use_cuda_);
  own_cpu_data_ = true;
  memory::Ledger::Get().Add(cpu_ptr_, size_, label_);
}

void SyncedMemory::Settle() {
  if (own_cpu_data_) return;
  const void* const values = cpu_ptr_;
  AllocateHost();
  std::memcpy(cpu_ptr_, values, size_);
}

void SyncedMemory::ToHost() {
  Recall();
  if (head_ == HEAD_AT_CPU || head_ == SYNCED) return;
  if (cpu_ptr_ == nullptr) AllocateHost();
  if (head_ == HEAD_AT_GPU) {
    device::CopyToHost(cpu_ptr_, gpu_ptr_, size_);
    head_ = SYNCED;
  } else {
    std::memset(cpu_ptr_, 0, size_);
    head_ = HEAD_AT_CPU;
  }
}

void SyncedMemory::ToDevice() {
  Recall();
  if (head_ == HEAD_AT_GPU || head_ == SYNCED) return;
  if (gpu_ptr_ == nullptr) {
    gpu_ptr_ = device::Allocate(size_);
    own_gpu_data_ = true;
  }
  if (head_ == HEAD_AT_CPU) {
    device::CopyToDevice(gpu_ptr_, cpu_ptr_, size_);
    head_ = SYNCED;
  } else {
    device::SetZero(gpu_ptr_, size_);
    head_ = HEAD_AT_GPU;
  }
}

void SyncedMemory::CopyTo(void* values) {
  if (keeper_ != nullptr) {
    keeper_->CopyTo(this, values);
  } else {
    std::memcpy(values, cpu_data(), size_);
  }
}

const void* SyncedMemory::cpu_data() {
  ToHost();
  return cpu_ptr_;
}

void* SyncedMemory::mutable_cpu_data() {
  ToHost();
  twin_.reset();
  head_ = HEAD_AT_CPU;
  return cpu_ptr_;
}

const void* SyncedMemory::gpu_data() {
  ToDevice();
  return gpu_ptr_;
}

void* SyncedMemory::mutable_gpu_data() {
  ToDevice();
  twin_.reset();
  head_ = HEAD_AT_GPU;
  return gpu_ptr_;
}

void SyncedMemory::set_cpu_data(void* data) {
  CHECK(data);
  if (is_pinned()) {
    std::memmove(mutable_cpu_data(), data, size_);
    return;
  }
  twin_.reset();
  FreeHost();
  keeper_ = nullptr;
  cpu_ptr_ = data;
  head_ = HEAD_AT_CPU;
}

void SyncedMemory::set_gpu_data(void* data) {
  CHECK(data);
  device::RequireDevice();
  twin_.reset();
  FreeDevice();
  keeper_ = nullptr;
  gpu_ptr_ = data;
  head_ = HEAD_AT_GPU;
}

MemoryPin::MemoryPin(shared_ptr<SyncedMemory> memory)
    : memory_(std::move(memory)) {
  memory_->mutable_cpu_data();
  memory_->Settle();
  data_ = memory_->cpu_ptr_;
  ++memory_->pins_;
}

MemoryPin::~MemoryPin() { --memory_->pins_; }

}  // namespace caffe
