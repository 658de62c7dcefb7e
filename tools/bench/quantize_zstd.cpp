#include <zstd.h>

#include "bench/quantized.hpp"
#include "caffe/error.hpp"

namespace caffe {

namespace {

class QuantizeZstd : public Contender {
 public:
  std::string name() const override { return "(quantise + zstd -1)"; }

  size_t MaxBytes(const Tensor& tensor) const override {
    return 1 + ZSTD_compressBound(2 * tensor.count());
  }
  size_t Compress(const Tensor& tensor, double bound,
                  std::span<uint8_t> out) override {
    const int planes = planes_.Split(tensor.Values<float>(), bound);
    out[0] = static_cast<uint8_t>(planes);
    const size_t size =
        ZSTD_compressCCtx(encoder_.get(), &out[1], out.size() - 1,
                          planes_.bytes().data(), planes * tensor.count(), 1);
    Require(!ZSTD_isError(size), "zstd: ", ZSTD_getErrorName(size));
    return 1 + size;
  }
  void Decompress(std::span<const uint8_t> packed, double bound,
                  Tensor* tensor) override {
    planes_.bytes().resize(2 * tensor->count());
    const size_t size = ZSTD_decompressDCtx(
        decoder_.get(), planes_.bytes().data(), planes_.bytes().size(),
        packed.data() + 1, packed.size() - 1);
    Require(size == packed[0] * tensor->count(), "zstd: damaged");
    planes_.Join(packed[0], bound, tensor->MutableValues<float>());
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> encoder_{
      ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decoder_{
      ZSTD_createDCtx(), ZSTD_freeDCtx};
  BytePlanes planes_;
};

const ContenderMaker maker(11, [](Contenders* contenders) {
  contenders->push_back(std::make_unique<QuantizeZstd>());
});

}  // namespace

}  // namespace caffe
