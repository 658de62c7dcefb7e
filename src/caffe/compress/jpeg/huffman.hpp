#ifndef CAFFE_SRC_COMPRESS_JPEG_HUFFMAN_HPP_
#define CAFFE_SRC_COMPRESS_JPEG_HUFFMAN_HPP_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// Huffman codes of JPEG (ITU-T T.81, annex K.3), and streams of their bits,
// the highest bit of the first byte first.
namespace caffe::codec::jpeg {

// A code from the number of its words of every length and its symbols in the
// order of the words.
class HuffmanCode {
 public:
  static constexpr int kMaxLength = 16;
  // Words up to this length are looked up.
  static constexpr int kLookup = 10;

  constexpr HuffmanCode(const uint8_t (&counts)[kMaxLength],
                        const uint8_t* symbols)
      : symbols_(symbols) {
    uint32_t word = 0;
    int at = 0;
    for (int length = 1; length <= kMaxLength; ++length) {
      first_[length] = at - static_cast<int>(word);
      for (int i = 0; i < counts[length - 1]; ++i, ++at, ++word) {
        word_[symbols[at]] = static_cast<uint16_t>(word);
        length_[symbols[at]] = static_cast<uint8_t>(length);
        FillLookup(word, length, symbols[at]);
      }
      // The words of this length lie below.
      end_[length] = word << (kMaxLength - length);
      word <<= 1;
    }
  }

  uint32_t word(int symbol) const { return word_[symbol]; }
  int length(int symbol) const { return length_[symbol]; }

  // The symbol whose word the 16 bits start with, and its length in *length;
  // kNone when there is none.
  static constexpr int kNone = -1;
  int Find(uint32_t bits, int* length) const {
    const uint16_t found = lookup_[bits >> (kMaxLength - kLookup)];
    if (found != 0) {
      *length = found >> 8;
      return found & 255;
    }
    for (int n = kLookup + 1; n <= kMaxLength; ++n) {
      if (bits < end_[n]) {
        *length = n;
        return symbols_[first_[n] + static_cast<int>(bits >> (kMaxLength - n))];
      }
    }
    return kNone;
  }

 private:
  constexpr void FillLookup(uint32_t word, int length, uint8_t symbol) {
    if (length > kLookup) return;
    const int free_bits = kLookup - length;
    for (uint32_t i = 0; i < (1u << free_bits); ++i) {
      lookup_[(word << free_bits) + i] =
          static_cast<uint16_t>(length << 8 | symbol);
    }
  }

  const uint8_t* symbols_;
  uint16_t word_[256] = {};
  uint8_t length_[256] = {};
  uint16_t lookup_[1 << kLookup] = {};
  int first_[kMaxLength + 1] = {};
  uint32_t end_[kMaxLength + 1] = {};
};

// Of the first coefficient: how many bits its difference has.
inline constexpr uint8_t kFirstCounts[16] = {0, 1, 5, 1, 1, 1, 1, 1,
                                             1, 0, 0, 0, 0, 0, 0, 0};
inline constexpr uint8_t kFirstSymbols[12] = {0, 1, 2, 3, 4,  5,
                                              6, 7, 8, 9, 10, 11};
inline constexpr HuffmanCode kFirstCode(kFirstCounts, kFirstSymbols);

// Of the others: how many zeros come before it (upper four bits), and how many
// bits it has.
inline constexpr uint8_t kOtherCounts[16] = {0, 2, 1, 3, 3, 2, 4, 3,
                                             5, 5, 4, 4, 0, 0, 1, 0x7D};
inline constexpr uint8_t kOtherSymbols[162] = {
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06,
    0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08,
    0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45,
    0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75,
    0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3,
    0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6,
    0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9,
    0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2,
    0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4,
    0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA};
inline constexpr HuffmanCode kOtherCode(kOtherCounts, kOtherSymbols);
constexpr int kEndOfTile = 0x00;
constexpr int kSixteenZeros = 0xF0;
// What the codes have room for.
constexpr int kMaxFirstBits = 11;
constexpr int kMaxOtherBits = 10;

class BitWriter {
 public:
  explicit BitWriter(uint8_t* to) : to_(to) {}

  // REQUIRES: n <= 32, and that `bits` has no others.
  void Put(uint32_t bits, int n) {
    pending_ = pending_ << n | bits;
    count_ += n;
    if (count_ >= 32) {
      count_ -= 32;
      const uint32_t word =
          __builtin_bswap32(static_cast<uint32_t>(pending_ >> count_));
      std::memcpy(to_, &word, sizeof(word));
      to_ += sizeof(word);
    }
  }
  // Fills the last byte with zeros and returns where the bits end.
  uint8_t* Finish() {
    for (; count_ > 0; count_ -= 8) {
      *to_++ = static_cast<uint8_t>(count_ >= 8 ? pending_ >> (count_ - 8)
                                                : pending_ << (8 - count_));
    }
    return to_;
  }

 private:
  uint8_t* to_;
  uint64_t pending_ = 0;
  int count_ = 0;
};

// Behind the end of the bits there are zeros without end.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes)
      : from_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Makes at least 32 bits ready.
  void Fill() {
    if (count_ >= 32) return;
    uint32_t word = 0;
    if (end_ - from_ >= 4) {
      std::memcpy(&word, from_, sizeof(word));
      from_ += sizeof(word);
    } else {
      std::memcpy(&word, from_, end_ - from_);
      invented_ += 32 - 8 * (end_ - from_);
      from_ = end_;
    }
    ready_ = ready_ << 32 | __builtin_bswap32(word);
    count_ += 32;
  }
  // REQUIRES: n <= what Fill made ready and is left.
  uint32_t Peek(int n) const {
    return static_cast<uint32_t>(ready_ >> (count_ - n)) & ((1u << n) - 1);
  }
  void Skip(int n) { count_ -= n; }
  uint32_t Take(int n) {
    Skip(n);
    return static_cast<uint32_t>(ready_ >> count_) & ((1u << n) - 1);
  }

  bool IsBeyondEnd() const { return count_ < invented_; }
  // All but the bits that fill the last byte have been taken.
  bool IsAtEnd() const {
    return from_ == end_ && count_ >= invented_ && count_ - invented_ < 8;
  }

 private:
  const uint8_t* from_;
  const uint8_t* const end_;
  uint64_t ready_ = 0;
  int64_t count_ = 0;
  int64_t invented_ = 0;
};

// A coefficient's bits in JPEG: a number of that many bits, those of negative
// ones less 1.
inline int SizeInBits(int value) {
  return std::bit_width(static_cast<unsigned>(value < 0 ? -value : value));
}
inline uint32_t BitsOf(int value, int size) {
  return static_cast<uint32_t>(value < 0 ? value - 1 : value) &
         ((1u << size) - 1);
}
inline int ValueOf(uint32_t bits, int size) {
  if (size == 0) return 0;
  const bool negative = bits >> (size - 1) == 0;
  return static_cast<int>(bits) - (negative ? (1 << size) - 1 : 0);
}

}  // namespace caffe::codec::jpeg

#endif  // CAFFE_SRC_COMPRESS_JPEG_HUFFMAN_HPP_
