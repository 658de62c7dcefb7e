#include "cpu/workspace.hpp"

#include <cstdint>

#include "caffe/error.hpp"
#include "caffe/syncedmem.hpp"

namespace caffe::cpu {

namespace {

constexpr size_t kCacheLine = 64;
// No array can be larger.
constexpr size_t kMost = PTRDIFF_MAX;

}  // namespace

Workspace& Workspace::Get() {
  static thread_local Workspace workspace;
  return workspace;
}

std::vector<void*> Workspace::Reserve(std::span<const size_t> sizes) {
  size_t total = 0;
  std::vector<size_t> offsets;
  offsets.reserve(sizes.size());
  for (const size_t size : sizes) {
    Require(size <= kMost - kCacheLine - total,
            "out of memory: cannot allocate ", size,
            " bytes of working memory");
    offsets.push_back(total);
    total += (size + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  if (total > size_) {
    Release();
    bool pinned = false;
    CaffeMallocHost(&memory_, total, &pinned);
    size_ = total;
    memory::Ledger::Get().Add(memory_, size_,
                              {memory::Kind::kWorkspace, "kernels"});
  }
  std::vector<void*> arrays;
  arrays.reserve(sizes.size());
  for (const size_t offset : offsets) {
    arrays.push_back(static_cast<char*>(memory_) + offset);
  }
  return arrays;
}

void* Workspace::ReserveProduct(size_t rows, size_t columns,
                                size_t value_size) {
  size_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(rows, columns, &bytes) &&
                    !__builtin_mul_overflow(bytes, value_size, &bytes);
  Require(fits, "out of memory: cannot hold ", rows, " x ", columns, " values");
  return Reserve({&bytes, 1})[0];
}

void Workspace::Release() {
  if (memory_ != nullptr) {
    memory::Ledger::Get().Remove(memory_);
    CaffeFreeHost(memory_, false);
  }
  memory_ = nullptr;
  size_ = 0;
}

}  // namespace caffe::cpu
