#include <cstring>
#include <vector>

#include "caffe/syncedmem.hpp"
#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

namespace {

constexpr size_t kBytes = 64;

// Restores memory to bytes of one value.
class Keeper : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* memory) override {
    ++restored;
    memory->set_cpu_data(bytes.data());
  }

  std::vector<char> bytes = std::vector<char>(kBytes, 5);
  int restored = 0;
};

class Refuser : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* /*memory*/) override { Fail("gone"); }
};

TEST(SyncedMemoryTest, StartsAsZeros) {
  SyncedMemory memory(kBytes);
  EXPECT_EQ(SyncedMemory::UNINITIALIZED, memory.head());
  const auto* const bytes = static_cast<const char*>(memory.cpu_data());
  EXPECT_EQ(0, bytes[0]);
  EXPECT_EQ(0, bytes[kBytes - 1]);
  EXPECT_EQ(SyncedMemory::HEAD_AT_CPU, memory.head());
}

TEST(SyncedMemoryTest, ReadersAndWritersOfEvictedMemoryGetItRestored) {
  Keeper keeper;
  SyncedMemory memory(kBytes);
  std::memset(memory.mutable_cpu_data(), 1, kBytes);
  memory.Evict(&keeper);
  EXPECT_TRUE(memory.is_evicted());
  EXPECT_EQ(5, static_cast<const char*>(memory.cpu_data())[kBytes - 1]);
  EXPECT_FALSE(memory.is_evicted());
  EXPECT_EQ(1, keeper.restored);
  memory.Evict(&keeper);
  EXPECT_EQ(keeper.bytes.data(), memory.mutable_cpu_data());
  EXPECT_EQ(2, keeper.restored);
}

TEST(SyncedMemoryTest, EvictedMemoryNeverYieldsZeros) {
  Refuser refuser;
  SyncedMemory memory(kBytes);
  memory.mutable_cpu_data();
  memory.Evict(&refuser);
  EXPECT_THROW(memory.cpu_data(), Error);
  EXPECT_THROW(memory.mutable_cpu_data(), Error);
  EXPECT_TRUE(memory.is_evicted());
  // Somebody who brings new values needs no old ones.
  std::vector<char> values(kBytes, 7);
  memory.set_cpu_data(values.data());
  EXPECT_EQ(7, static_cast<const char*>(memory.cpu_data())[0]);
}

TEST(SyncedMemoryTest, WhatIsForgottenStartsAgainAsZeros) {
  Refuser refuser;
  SyncedMemory memory(kBytes);
  std::memset(memory.mutable_cpu_data(), 1, kBytes);
  memory.Forget();
  EXPECT_EQ(SyncedMemory::UNINITIALIZED, memory.head());
  EXPECT_EQ(0, static_cast<const char*>(memory.cpu_data())[kBytes - 1]);
  memory.Evict(&refuser);
  memory.Forget();
  EXPECT_FALSE(memory.is_evicted());
  EXPECT_EQ(0, static_cast<const char*>(memory.cpu_data())[0]);
}

TEST(SyncedMemoryTest, TheTwinIsForgottenWhenValuesChange) {
  const auto twin = boost::make_shared<SyncedMemory>(kBytes);
  SyncedMemory memory(kBytes);
  memory.set_twin(twin);
  memory.cpu_data();
  EXPECT_EQ(twin, memory.twin());
  memory.mutable_cpu_data();
  EXPECT_EQ(nullptr, memory.twin());
}

}  // namespace

}  // namespace caffe
