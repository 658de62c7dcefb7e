#ifndef CAFFE_SRC_COMPRESS_SPARSE_HPP_
#define CAFFE_SRC_COMPRESS_SPARSE_HPP_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// What codecs of sparse tensors share: a bit for every value, 64 to a word,
// the first value's lowest.
namespace caffe::codec {

constexpr size_t kWordValues = 64;

// A zero whose bits are all zero; the negative zero is not among them.
template <typename T>
bool IsZeroBits(T value) {
  const T zero = 0;
  return std::memcmp(&value, &zero, sizeof(T)) == 0;
}

// Of n <= 64 values, the bits of those for which test(value) holds.
template <typename T, typename Test>
uint64_t WordOf(const T* values, size_t n, const Test& test) {
  uint64_t word = 0;
  for (size_t i = 0; i < n; ++i) {
    word |= static_cast<uint64_t>(test(values[i])) << i;
  }
  return word;
}

// Bits [0, n) of a word, and those of a byte string that begin at value
// `first`.
inline uint64_t LowBits(size_t n) {
  return n >= kWordValues ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}
inline size_t BitBytes(size_t n) { return (n + 7) / 8; }
inline uint64_t LoadWord(const uint8_t* bits, size_t n) {
  uint64_t word = 0;
  std::memcpy(&word, bits, BitBytes(std::min(n, kWordValues)));
  return word;
}
inline void StoreWord(uint64_t word, size_t n, uint8_t* bits) {
  std::memcpy(bits, &word, BitBytes(std::min(n, kWordValues)));
}

// For every value of eight, how many of the bits before it are set.
struct Ranks {
  constexpr Ranks() {
    for (unsigned bits = 0; bits < 256; ++bits) {
      for (int i = 0; i < 8; ++i) {
        of[bits][i] =
            static_cast<uint8_t>(std::popcount(bits & ((1u << i) - 1)) & 7);
      }
    }
  }
  uint8_t of[256][8] = {};
};
inline constexpr Ranks kRanks;

// What unpacking may read beyond the last value.
constexpr size_t kUnpackSlack = 8 * sizeof(float);

// How far unpacking came.
struct Unpacked {
  size_t values;
  size_t bytes;
};

// Which of eight bits are set, one after the other, a byte each.
struct SetBits {
  constexpr SetBits() {
    for (unsigned bits = 0; bits < 256; ++bits) {
      int count = 0;
      for (uint64_t i = 0; i < 8; ++i) {
        if (bits >> i & 1) of[bits] |= i << (8 * count++);
      }
    }
  }
  uint64_t of[256] = {};
};
inline constexpr SetBits kSetBits;

// Compressed sparse rows are narrow enough for columns of one byte.
constexpr size_t kRowValues = 256;
constexpr size_t kRowWords = kRowValues / kWordValues;

// Writes the columns of a row's set bits, and maybe something behind them;
// returns where they end.
inline uint8_t* StoreColumns(const uint64_t* words, uint8_t* to) {
  for (size_t w = 0; w < kRowWords; ++w) {
    for (size_t i = 0; i < kWordValues; i += 8) {
      const uint64_t bits = words[w] >> i & 255;
      const uint64_t columns =
          kSetBits.of[bits] + (w * kWordValues + i) * 0x0101010101010101u;
      std::memcpy(to, &columns, sizeof(columns));
      to += std::popcount(bits);
    }
  }
  return to;
}

inline size_t CountOf(const uint64_t* words) {
  size_t count = 0;
  for (size_t w = 0; w < kRowWords; ++w) count += std::popcount(words[w]);
  return count;
}

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_SPARSE_HPP_
