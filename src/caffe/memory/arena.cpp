#include "caffe/memory/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "caffe/common.hpp"

namespace caffe::memory {

namespace {

// Addresses cost nothing; limits on them are rare, but there are some.
constexpr size_t kMostAddresses = size_t{1} << 42;
constexpr size_t kFewestAddresses = size_t{1} << 30;

size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Arena::Arena() {
  for (size_t size = kMostAddresses; size >= kFewestAddresses; size /= 4) {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    base_ = static_cast<char*>(memory);
    reserved_ = size;
    madvise(base_, reserved_, MADV_HUGEPAGE);
    return;
  }
  Fail("out of memory: cannot reserve ", kFewestAddresses,
       " bytes of addresses for activations");
}

Arena::~Arena() {
  Ledger::Get().Remove(this);
  munmap(base_, reserved_);
}

void Arena::EnterIdle() const {
  Ledger::Get().Add(this, touched_ - offsets_.used(), {Kind::kIdle, "arena"});
}

void* Arena::Allocate(size_t bytes, const Label& label) {
  const size_t offset = offsets_.Allocate(bytes);
  if (offsets_.end() > reserved_) {
    offsets_.Free(offset);
    Fail("out of memory: cannot allocate ", bytes, " bytes for activations");
  }
  touched_ = std::max(touched_, offsets_.end());
  // Idle memory becomes less first: the total must not count anything twice.
  EnterIdle();
  void* const memory = base_ + offset;
  Ledger::Get().Add(memory, offsets_.SizeOf(offset), label);
  return memory;
}

void Arena::Free(void* memory) {
  Ledger::Get().Remove(memory);
  offsets_.Free(static_cast<size_t>(static_cast<char*>(memory) - base_));
  EnterIdle();
}

void Arena::Trim() {
  const size_t page = PageSize();
  const size_t keep = (offsets_.end() + page - 1) / page * page;
  if (keep >= touched_) return;
  madvise(base_ + keep, touched_ - keep, MADV_DONTNEED);
  touched_ = keep;
  offsets_.ResetPeak();
  EnterIdle();
}

}  // namespace caffe::memory
