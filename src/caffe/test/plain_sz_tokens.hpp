#ifndef CAFFE_TEST_PLAIN_SZ_TOKENS_HPP_
#define CAFFE_TEST_PLAIN_SZ_TOKENS_HPP_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plain_frame.hpp"

// How FAST and DENSE keep the tokens of a block, for the plain decoder of sz
// and, like all of it, from docs/codec_sz.md and nothing else.
namespace caffe::codec {

constexpr int kSzLanes = 32;

// Bits from the lowest of the first byte upwards.
class Bits {
 public:
  explicit Bits(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  int Next() {
    Require(at_ / 8 < bytes_.size(), "bits are missing");
    const int bit = bytes_[at_ / 8] >> at_ % 8 & 1;
    ++at_;
    return bit;
  }
  int Number(int bits) {
    int number = 0;
    for (int i = 0; i < bits; ++i) number |= Next() << i;
    return number;
  }
  // What follows is the rest of a byte begun and 8 bytes, all zero.
  void End() {
    while (at_ % 8 != 0) Require(Next() == 0, "bits after the last");
    Require(bytes_.size() == at_ / 8 + 8, "wrong number of bits");
    Require(Number(31) == 0 && Number(31) == 0 && Number(2) == 0,
            "bits after the last");
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// Of one context.
struct SzFrequencies {
  std::array<int, 256> frequency = {};
  std::array<int, 256> below = {};
  std::array<int, 1024> symbol = {};
};

// The model of DENSE.
struct SzModel {
  bool predicts = false;
  std::vector<int> activity_thresholds;
  std::vector<int> level_thresholds;
  std::vector<SzFrequencies> contexts;
};

SzModel ReadSzModel(Bytes in);

// The n tokens of a block, which so many bytes of bits keep.
std::vector<int> FastTokens(int differences, uint32_t row, Bytes* in,
                            uint32_t bytes, size_t n);

// The n tokens of a block, which so many words and escapes keep.
std::vector<int> DenseTokens(const SzModel& model, uint32_t row, Bytes* in,
                             uint32_t words, uint32_t escapes, size_t n);

}  // namespace caffe::codec

#endif  // CAFFE_TEST_PLAIN_SZ_TOKENS_HPP_
