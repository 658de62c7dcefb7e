#ifndef CAFFE_MEMORY_ARENA_HPP_
#define CAFFE_MEMORY_ARENA_HPP_

#include <cstddef>

#include "caffe/memory/ledger.hpp"
#include "caffe/memory/offset_allocator.hpp"

namespace caffe::memory {

// One stretch of addresses whose pages come into being when first written to
// and then stay, so that an iteration after the first waits for none. The
// process grows to the arena's peak, no further. Not thread-safe.
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Memory that holds no particular values, aligned to a cache line. Throws
  // Error when there is not that much.
  void* Allocate(size_t bytes, const Label& label);
  // REQUIRES: Allocate returned the pointer, and it has not been freed since.
  void Free(void* memory);

  // Gives the pages that are not in use back to the system.
  void Trim();

  size_t used() const { return offsets_.used(); }
  size_t peak() const { return offsets_.peak(); }
  // Measures the peak from now on.
  void ResetPeak() { offsets_.ResetPeak(); }
  // What the process has of it, in use or not.
  size_t touched() const { return touched_; }

 private:
  // Enters what has been touched but is not in use into the ledger.
  void EnterIdle() const;

  OffsetAllocator offsets_;
  char* base_ = nullptr;
  size_t reserved_ = 0;
  // How far pages have been written to since the last Trim.
  size_t touched_ = 0;
};

}  // namespace caffe::memory

#endif  // CAFFE_MEMORY_ARENA_HPP_
