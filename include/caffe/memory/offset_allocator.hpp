#ifndef CAFFE_MEMORY_OFFSET_ALLOCATOR_HPP_
#define CAFFE_MEMORY_OFFSET_ALLOCATOR_HPP_

#include <cstddef>
#include <map>

namespace caffe::memory {

// Hands out stretches of a line that starts at 0 and has no end: the smallest
// hole that is large enough, else room at the end. It sees numbers only, so
// that what a net will need can be found out without taking any memory. The
// same calls give the same offsets. Not thread-safe.
class OffsetAllocator {
 public:
  // What all offsets and sizes are rounded up to: a cache line.
  static constexpr size_t kAlignment = 64;

  size_t Allocate(size_t bytes);
  // REQUIRES: Allocate returned the offset, and it has not been freed since.
  void Free(size_t offset);

  // What such a stretch takes, rounded up.
  size_t SizeOf(size_t offset) const { return blocks_.at(offset); }

  // Bytes in use now.
  size_t used() const { return used_; }
  // The end of the last stretch in use now, and the largest it has ever been.
  size_t end() const { return end_; }
  size_t peak() const { return peak_; }
  // Measures the peak from now on.
  void ResetPeak() { peak_ = end_; }

 private:
  // Offset to size.
  std::map<size_t, size_t> blocks_;
  std::map<size_t, size_t> holes_;
  size_t used_ = 0;
  size_t end_ = 0;
  size_t peak_ = 0;
};

}  // namespace caffe::memory

#endif  // CAFFE_MEMORY_OFFSET_ALLOCATOR_HPP_
