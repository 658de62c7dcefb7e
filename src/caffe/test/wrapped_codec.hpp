#ifndef CAFFE_TEST_WRAPPED_CODEC_HPP_
#define CAFFE_TEST_WRAPPED_CODEC_HPP_

#include <span>
#include <string_view>

#include "caffe/compress/codec.hpp"

namespace caffe {

// Works like "raw", for tests that watch or disturb it.
class WrappedCodec : public codec::Codec {
 public:
  std::string_view name() const override { return "wrapped"; }
  std::string_view guarantee() const override { return "none"; }
  uint8_t id() const override { return raw_.id(); }
  size_t MaxBytes(const codec::Shape& shape,
                  codec::DataType type) const override {
    return raw_.MaxBytes(shape, type);
  }
  size_t Compress(const codec::ConstTensor& in, const codec::Settings& settings,
                  codec::Context& context,
                  std::span<uint8_t> out) const override {
    return raw_.Compress(in, settings, context, out);
  }
  size_t EstimateBytes(const codec::ConstTensor& in,
                       const codec::Settings& settings,
                       codec::Context& context) const override {
    return raw_.EstimateBytes(in, settings, context);
  }
  void Decompress(std::span<const uint8_t> frame, codec::ImageRange range,
                  codec::Context& context,
                  std::span<float> out) const override {
    raw_.Decompress(frame, range, context, out);
  }
  void Decompress(std::span<const uint8_t> frame, codec::ImageRange range,
                  codec::Context& context,
                  std::span<double> out) const override {
    raw_.Decompress(frame, range, context, out);
  }

 private:
  const codec::Codec& raw_ = codec::FindCodec("raw");
};

}  // namespace caffe

#endif  // CAFFE_TEST_WRAPPED_CODEC_HPP_
