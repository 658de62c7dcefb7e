#include "cpu/workspace.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>

#include "caffe/test/test_caffe_main.hpp"

namespace caffe::cpu {

TEST(WorkspaceTest, GrowsToTheLargestAndGivesBack) {
  Workspace& workspace = Workspace::Get();
  workspace.Release();
  EXPECT_EQ(0u, workspace.size());
  float* const small = workspace.ReserveMatrix<float>(10, 16);
  EXPECT_EQ(640u, workspace.size());
  EXPECT_EQ(small, workspace.ReserveMatrix<float>(1, 1));
  EXPECT_EQ(640u, workspace.size());
  workspace.ReserveMatrix<double>(100, 16);
  EXPECT_EQ(12800u, workspace.size());
  workspace.Release();
  EXPECT_EQ(0u, workspace.size());
}

TEST(WorkspaceTest, ArraysAreAlignedAndApart) {
  const size_t sizes[] = {100, 0, 64, 1, 300};
  const std::vector<void*> arrays = Workspace::Get().Reserve(sizes);
  ASSERT_EQ(5u, arrays.size());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(arrays[i]) % 64);
    std::memset(arrays[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < 5; ++i) {
    for (size_t byte = 0; byte < sizes[i]; ++byte) {
      ASSERT_EQ(i + 1, static_cast<char*>(arrays[i])[byte]);
    }
  }
}

TEST(WorkspaceTest, EveryThreadHasItsOwn) {
  const Workspace* other = nullptr;
  std::thread([&] { other = &Workspace::Get(); }).join();
  EXPECT_NE(&Workspace::Get(), other);
}

TEST(WorkspaceTest, RefusesImpossibleSizes) {
  const size_t most = std::numeric_limits<size_t>::max();
  Workspace& workspace = Workspace::Get();
  EXPECT_THROW(workspace.ReserveMatrix<float>(most / 2, 4), Error);
  EXPECT_THROW(workspace.ReserveMatrix<char>(1, most), Error);
  const size_t sizes[] = {most / 3, most / 3};
  EXPECT_THROW(workspace.Reserve(sizes), Error);
}

}  // namespace caffe::cpu
