#include <cstring>
#include <memory>
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

TEST(SyncedMemoryTest, PinnedMemoryStaysWhereItIs) {
  Refuser refuser;
  const auto memory = boost::make_shared<SyncedMemory>(kBytes);
  std::vector<char> foreign(kBytes, 3);
  memory->set_cpu_data(foreign.data());
  {
    const MemoryPin pin(memory);
    const MemoryPin another(memory);
    const auto* const bytes = static_cast<const char*>(pin.data());
    EXPECT_EQ(pin.data(), another.data());
    EXPECT_NE(foreign.data(), bytes);
    EXPECT_EQ(3, bytes[kBytes - 1]);
    memory->Evict(&refuser);
    EXPECT_EQ(bytes, memory->cpu_data());
    foreign.assign(kBytes, 4);
    memory->set_cpu_data(foreign.data());
    EXPECT_EQ(bytes, memory->cpu_data());
    EXPECT_EQ(4, bytes[kBytes - 1]);
    memory->Forget();
    EXPECT_EQ(bytes, memory->cpu_data());
    EXPECT_EQ(0, bytes[kBytes - 1]);
    EXPECT_TRUE(memory->is_pinned());
  }
  EXPECT_FALSE(memory->is_pinned());
  memory->Evict(&refuser);
  EXPECT_TRUE(memory->is_evicted());
  EXPECT_THROW(MemoryPin pin(memory), Error);
}

TEST(SyncedMemoryTest, PinsRestoreWhatWasPutAway) {
  Keeper keeper;
  const auto memory = boost::make_shared<SyncedMemory>(kBytes);
  memory->Evict(&keeper);
  const MemoryPin pin(memory);
  EXPECT_EQ(5, static_cast<const char*>(pin.data())[kBytes - 1]);
  EXPECT_NE(keeper.bytes.data(), pin.data());
}

TEST(SyncedMemoryTest, PinnedMemoryHasNoTwin) {
  const auto memory = boost::make_shared<SyncedMemory>(kBytes);
  const auto twin = boost::make_shared<SyncedMemory>(kBytes);
  const auto pin = std::make_unique<MemoryPin>(memory);
  memory->set_twin(twin);
  EXPECT_EQ(nullptr, memory->twin());
}

}  // namespace

}  // namespace caffe
