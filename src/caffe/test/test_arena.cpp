#include <cstring>
#include <map>
#include <random>

#include "caffe/memory/arena.hpp"
#include "caffe/memory/offset_allocator.hpp"
#include "caffe/test/test_caffe_main.hpp"

namespace caffe::memory {

namespace {

TEST(OffsetAllocatorTest, TakesTheSmallestHoleThatFits) {
  OffsetAllocator line;
  const size_t large = line.Allocate(640);
  const size_t first_wall = line.Allocate(64);
  const size_t small = line.Allocate(128);
  line.Allocate(64);
  EXPECT_EQ(896, line.end());
  line.Free(large);
  line.Free(small);
  EXPECT_EQ(small, line.Allocate(100));
  EXPECT_EQ(large, line.Allocate(129));
  // What is left of the large hole.
  EXPECT_EQ(large + 192, line.Allocate(448));
  EXPECT_EQ(896, line.end());
  EXPECT_EQ(640, first_wall);
}

TEST(OffsetAllocatorTest, MergesHolesOnBothSides) {
  OffsetAllocator line;
  const size_t a = line.Allocate(64);
  const size_t b = line.Allocate(64);
  const size_t c = line.Allocate(64);
  line.Allocate(64);
  line.Free(a);
  line.Free(c);
  line.Free(b);
  EXPECT_EQ(a, line.Allocate(192));
  EXPECT_EQ(256, line.peak());
}

TEST(OffsetAllocatorTest, ShrinksAtTheEnd) {
  OffsetAllocator line;
  const size_t a = line.Allocate(64);
  const size_t b = line.Allocate(64);
  line.Free(a);
  line.Free(b);
  EXPECT_EQ(0, line.end());
  EXPECT_EQ(0, line.used());
  EXPECT_EQ(128, line.peak());
  line.ResetPeak();
  EXPECT_EQ(0, line.peak());
}

TEST(OffsetAllocatorTest, BlocksNeverOverlap) {
  OffsetAllocator line;
  std::mt19937 random(5);
  std::map<size_t, size_t> blocks;
  size_t used = 0;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 3 == 0 && !blocks.empty()) {
      const auto victim =
          std::next(blocks.begin(), static_cast<int>(random() % blocks.size()));
      used -= victim->second;
      line.Free(victim->first);
      blocks.erase(victim);
    } else {
      const size_t size = 64 * (1 + random() % 50);
      const size_t offset = line.Allocate(size);
      const auto next = blocks.lower_bound(offset);
      if (next != blocks.end()) {
        ASSERT_LE(offset + size, next->first);
      }
      if (next != blocks.begin()) {
        const auto previous = std::prev(next);
        ASSERT_LE(previous->first + previous->second, offset);
      }
      blocks[offset] = size;
      used += size;
    }
    ASSERT_EQ(used, line.used());
    ASSERT_LE(line.end(), line.peak());
  }
}

TEST(ArenaTest, MemoryCanBeUsedAndComesBackAfterTrim) {
  Arena arena;
  constexpr size_t kBytes = 3 << 20;
  char* const first = static_cast<char*>(arena.Allocate(kBytes, {}));
  char* const second = static_cast<char*>(arena.Allocate(kBytes, {}));
  std::memset(first, 1, kBytes);
  std::memset(second, 2, kBytes);
  EXPECT_EQ(2 * kBytes, arena.used());
  arena.Free(second);
  arena.Trim();
  EXPECT_EQ(kBytes, arena.peak());
  EXPECT_EQ(1, first[kBytes - 1]);
  EXPECT_EQ(second, arena.Allocate(kBytes, {}));
  second[kBytes - 1] = 3;
  EXPECT_EQ(2 * kBytes, arena.peak());
}

TEST(ArenaTest, MoreThanThereIsIsAnError) {
  Arena arena;
  EXPECT_THROW(arena.Allocate(size_t{1} << 60, {}), Error);
  EXPECT_EQ(0, arena.used());
}

}  // namespace

}  // namespace caffe::memory
