#include <lz4.h>

#include <cstring>

#include "bench/quantized.hpp"
#include "caffe/error.hpp"

// Quantised values, bit by bit: all lowest bits of so many bytes first.
namespace caffe {

namespace {

// Transposes 8x8 bits, one byte a row.
uint64_t Transposed(uint64_t x) {
  uint64_t t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
  return x ^ t ^ t << 28;
}

// Bits k of eight neighbouring bytes go to byte i of plane k, or back; what is
// left over stays.
constexpr size_t kBlock = 8192;

void ShuffleBits(const uint8_t* from, size_t n, uint8_t* to) {
  size_t first = 0;
  for (; first + kBlock <= n; first += kBlock) {
    for (size_t i = 0; i < kBlock / 8; ++i) {
      uint64_t x;
      std::memcpy(&x, from + first + 8 * i, 8);
      x = Transposed(x);
      for (int k = 0; k < 8; ++k) {
        to[first + k * kBlock / 8 + i] = static_cast<uint8_t>(x >> 8 * k);
      }
    }
  }
  std::memcpy(to + first, from + first, n - first);
}

void UnshuffleBits(const uint8_t* from, size_t n, uint8_t* to) {
  size_t first = 0;
  for (; first + kBlock <= n; first += kBlock) {
    for (size_t i = 0; i < kBlock / 8; ++i) {
      uint64_t x = 0;
      for (int k = 0; k < 8; ++k) {
        x |= uint64_t{from[first + k * kBlock / 8 + i]} << 8 * k;
      }
      x = Transposed(x);
      std::memcpy(to + first + 8 * i, &x, 8);
    }
  }
  std::memcpy(to + first, from + first, n - first);
}

class QuantizeLz4 : public Contender {
 public:
  std::string name() const override { return "quantise+bitshuffle+lz4"; }

  size_t MaxBytes(const Tensor& tensor) const override {
    return 1 + LZ4_compressBound(static_cast<int>(2 * tensor.count()));
  }
  size_t Compress(const Tensor& tensor, double bound,
                  std::span<uint8_t> out) override {
    const int planes = planes_.Split(tensor.Values<float>(), bound);
    const size_t bytes = planes * tensor.count();
    shuffled_.resize(bytes);
    ShuffleBits(planes_.bytes().data(), bytes, shuffled_.data());
    out[0] = static_cast<uint8_t>(planes);
    const int size = LZ4_compress_default(
        reinterpret_cast<const char*>(shuffled_.data()),
        reinterpret_cast<char*>(&out[1]), static_cast<int>(bytes),
        static_cast<int>(out.size() - 1));
    Require(size > 0, "lz4 failed");
    return 1 + size;
  }
  void Decompress(std::span<const uint8_t> packed, double bound,
                  Tensor* tensor) override {
    const size_t bytes = packed[0] * tensor->count();
    shuffled_.resize(bytes);
    planes_.bytes().resize(bytes);
    const int size = LZ4_decompress_safe(
        reinterpret_cast<const char*>(packed.data() + 1),
        reinterpret_cast<char*>(shuffled_.data()),
        static_cast<int>(packed.size() - 1), static_cast<int>(bytes));
    Require(size == static_cast<int>(bytes), "lz4: damaged");
    UnshuffleBits(shuffled_.data(), bytes, planes_.bytes().data());
    planes_.Join(packed[0], bound, tensor->MutableValues<float>());
  }

 private:
  BytePlanes planes_;
  std::vector<uint8_t> shuffled_;
};

const ContenderMaker maker(20, [](Contenders* contenders) {
  contenders->push_back(std::make_unique<QuantizeLz4>());
});

}  // namespace

}  // namespace caffe
