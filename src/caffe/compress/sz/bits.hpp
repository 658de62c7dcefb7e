#ifndef CAFFE_SRC_COMPRESS_SZ_BITS_HPP_
#define CAFFE_SRC_COMPRESS_SZ_BITS_HPP_

#include <cstddef>
#include <cstdint>
#include <cstring>

// A stream of bits, lowest bit of the first byte first. Both ends move eight
// bytes at a time, so kBitPadding bytes behind the last bit must be there.
namespace caffe::codec::sz {

class BitWriter {
 public:
  explicit BitWriter(uint8_t* to) : begin_(to), to_(to) {}

  // The n lowest bits of `bits`, all others of which are 0.
  // REQUIRES: n <= 56.
  void Put(uint64_t bits, int n) {
    pending_ |= bits << count_;
    std::memcpy(to_, &pending_, 8);
    count_ += n;
    to_ += count_ >> 3;
    pending_ >>= count_ & ~7;
    count_ &= 7;
  }
  // The same without branches, for n <= 64.
  void PutLong(uint64_t bits, int n) {
    const uint64_t word = pending_ | bits << count_;
    // In two steps, as there is no shift by 64.
    const uint64_t rest = bits >> (63 - count_) >> 1;
    std::memcpy(to_, &word, 8);
    count_ += n;
    to_ += count_ >> 3;
    pending_ = count_ >= 64 ? rest : word >> (count_ & 56);
    count_ &= 7;
  }

  // Adds the padding and returns the number of bytes.
  size_t Finish() {
    std::memcpy(to_, &pending_, 8);
    to_ += count_ > 0;
    std::memset(to_, 0, 8);
    return to_ + 8 - begin_;
  }

 private:
  uint8_t* const begin_;
  uint8_t* to_;
  uint64_t pending_ = 0;
  int count_ = 0;
};

class BitReader {
 public:
  // REQUIRES: bytes >= kBitPadding.
  BitReader(const uint8_t* from, size_t bytes)
      : from_(from), end_(static_cast<uint64_t>(bytes - 8) * 8) {}

  uint64_t left() const { return end_ - at_; }
  // Whether n more bits are there; they must be asked for before they are got.
  bool Has(uint64_t n) const { return n <= left(); }
  // REQUIRES: n <= 56.
  uint64_t Get(int n) {
    uint64_t word;
    std::memcpy(&word, from_ + at_ / 8, 8);
    const uint64_t bits = (word >> at_ % 8) & ((uint64_t{1} << n) - 1);
    at_ += n;
    return bits;
  }
  // The next 64 bits, of which n count; what the others are is undefined.
  // REQUIRES: n <= 64.
  uint64_t GetLong(int n) {
    uint64_t word;
    std::memcpy(&word, from_ + at_ / 8, 8);
    // From the next byte on, or once more the same.
    uint64_t next;
    std::memcpy(&next, from_ + (at_ + 7) / 8, 8);
    const uint64_t bits = word >> at_ % 8 | next << (0 - at_) % 8;
    at_ += n;
    return bits;
  }
  // Fewer than 8 bits are left over, as after Finish.
  bool AtEnd() const { return left() < 8; }

 private:
  const uint8_t* from_;
  uint64_t end_;
  uint64_t at_ = 0;
};

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_BITS_HPP_
