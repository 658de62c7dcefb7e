#include <zfp.h>

#include <algorithm>
#include <cstring>

#include "bench/contender.hpp"
#include "caffe/error.hpp"

namespace caffe {

namespace {

// zfp with a fixed accuracy, on planes of the last axis and all others.
class Zfp : public Contender {
 public:
  std::string name() const override { return "zfp"; }

  size_t MaxBytes(const Tensor& tensor) const override {
    const Call call(tensor, 1);
    return zfp_stream_maximum_size(call.stream.get(), call.field.get()) +
           tensor.bytes();
  }
  size_t Compress(const Tensor& tensor, double bound,
                  std::span<uint8_t> out) override {
    const Call call(tensor, bound);
    const auto bits = call.Open({out.data(), out.size()});
    const size_t size = zfp_compress(call.stream.get(), call.field.get());
    Require(size > 0, "zfp failed");
    return size;
  }
  void Decompress(std::span<const uint8_t> packed, double bound,
                  Tensor* tensor) override {
    const Call call(*tensor, bound);
    const auto bits =
        call.Open({const_cast<uint8_t*>(packed.data()), packed.size()});
    Require(zfp_decompress(call.stream.get(), call.field.get()) > 0,
            "zfp: damaged");
  }

 private:
  template <typename T, void (*kFree)(T*)>
  struct Deleter {
    void operator()(T* object) const { kFree(object); }
  };
  using Stream =
      std::unique_ptr<zfp_stream, Deleter<zfp_stream, zfp_stream_close>>;
  using Field = std::unique_ptr<zfp_field, Deleter<zfp_field, zfp_field_free>>;
  using Bits = std::unique_ptr<bitstream, Deleter<bitstream, stream_close>>;

  struct Call {
    Call(const Tensor& tensor, double bound)
        : stream(zfp_stream_open(nullptr)), field(FieldOf(tensor)) {
      zfp_stream_set_accuracy(stream.get(), bound);
    }
    Bits Open(std::span<uint8_t> memory) const {
      Bits bits(stream_open(memory.data(), memory.size()));
      zfp_stream_set_bit_stream(stream.get(), bits.get());
      zfp_stream_rewind(stream.get());
      return bits;
    }
    static zfp_field* FieldOf(const Tensor& tensor) {
      const codec::Shape& shape = tensor.shape();
      const size_t row = shape.axes > 0
                             ? std::max<size_t>(1, shape.extent[shape.axes - 1])
                             : 1;
      return zfp_field_2d(const_cast<uint8_t*>(tensor.data()), zfp_type_float,
                          row, tensor.count() / row);
    }

    Stream stream;
    Field field;
  };
};

const ContenderMaker maker(21, [](Contenders* contenders) {
  contenders->push_back(std::make_unique<Zfp>());
});

}  // namespace

}  // namespace caffe
