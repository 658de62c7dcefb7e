#include "cpu/copy.hpp"

#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "cpu/stream.hpp"

namespace caffe {

// Bytes that no run of which repeats soon.
std::vector<uint8_t> Pattern(size_t bytes) {
  std::vector<uint8_t> pattern(bytes);
  uint32_t state = 1;
  for (uint8_t& byte : pattern) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return pattern;
}

TEST(CopyTest, StreamsAnyLengthBetweenAnyAddresses) {
  const std::vector<uint8_t> from = Pattern(600);
  for (const size_t shift : {0, 1, 17, 63}) {
    for (const size_t target : {0, 3, 31, 64}) {
      for (size_t bytes = 0; bytes < 300; ++bytes) {
        std::vector<uint8_t> to(600, 0xAB);
        std::vector<uint8_t> expected = to;
        std::copy_n(from.begin() + shift, bytes, expected.begin() + target);
        cpu::StreamBytes(bytes, from.data() + shift, to.data() + target);
        ASSERT_EQ(expected, to) << shift << " " << target << " " << bytes;
      }
    }
  }
}

TEST(CopyTest, CopiesOfAnySize) {
  // The last one is streamed, by several threads.
  for (const int64_t n : {0, 1, 1000, 40001, 3000001}) {
    std::vector<int> from(n);
    for (int64_t i = 0; i < n; ++i) from[i] = static_cast<int>(i * 7);
    std::vector<int> to(n, -1);
    cpu::Copy(n, from.data(), to.data());
    EXPECT_EQ(from, to);
  }
}

TEST(CopyTest, RowsGoWhereTheirStepsSay) {
  const float from[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> to(7);
  cpu::CopyRows(2, 2, from + 1, 4, to.data(), 5);
  EXPECT_EQ((std::vector<float>{2, 3, 0, 0, 0, 6, 7}), to);
}

}  // namespace caffe
