#include "caffe/memory/offset_allocator.hpp"

#include <algorithm>

#include "caffe/common.hpp"

namespace caffe::memory {

size_t OffsetAllocator::Allocate(size_t bytes) {
  const size_t size =
      std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < size) continue;
    if (best == holes_.end() || hole->second < best->second) best = hole;
  }
  size_t offset = end_;
  if (best != holes_.end()) {
    const auto [start, room] = *best;
    offset = start;
    holes_.erase(best);
    if (room > size) holes_[start + size] = room - size;
  } else {
    end_ += size;
    peak_ = std::max(peak_, end_);
  }
  blocks_[offset] = size;
  used_ += size;
  return offset;
}

void OffsetAllocator::Free(size_t offset) {
  const auto block = blocks_.find(offset);
  CHECK(block != blocks_.end()) << "no block starts at " << offset;
  size_t size = block->second;
  used_ -= size;
  blocks_.erase(block);
  // Merge with the holes on both sides.
  auto next = holes_.lower_bound(offset);
  if (next != holes_.end() && next->first == offset + size) {
    size += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      holes_.erase(previous);
    }
  }
  if (offset + size == end_) {
    end_ = offset;
  } else {
    holes_[offset] = size;
  }
}

}  // namespace caffe::memory
