#include <blosc.h>

#include "bench/contender.hpp"
#include "caffe/error.hpp"

namespace caffe {

namespace {

// Blosc, lossless: bits of the floats shuffled, then LZ4.
class Blosc : public Contender {
 public:
  std::string name() const override { return "blosc-lz4 (lossless)"; }
  bool supports(codec::DataType) const override { return true; }

  size_t MaxBytes(const Tensor& tensor) const override {
    return tensor.bytes() + BLOSC_MAX_OVERHEAD;
  }
  size_t Compress(const Tensor& tensor, double,
                  std::span<uint8_t> out) override {
    Require(tensor.bytes() <= BLOSC_MAX_BUFFERSIZE, "too large for Blosc");
    const int size = blosc_compress_ctx(
        5, BLOSC_BITSHUFFLE, SizeOf(tensor.type()), tensor.bytes(),
        tensor.data(), out.data(), out.size(), "lz4", 0, 1);
    Require(size > 0, "blosc failed");
    return size;
  }
  void Decompress(std::span<const uint8_t> packed, double,
                  Tensor* tensor) override {
    const int size =
        blosc_decompress_ctx(packed.data(), tensor->data(), tensor->bytes(), 1);
    Require(size == static_cast<int>(tensor->bytes()), "blosc: damaged");
  }
};

const ContenderMaker maker(22, [](Contenders* contenders) {
  contenders->push_back(std::make_unique<Blosc>());
});

}  // namespace

}  // namespace caffe
