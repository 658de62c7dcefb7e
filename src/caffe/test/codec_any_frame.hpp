#ifndef CAFFE_TEST_CODEC_ANY_FRAME_HPP_
#define CAFFE_TEST_CODEC_ANY_FRAME_HPP_

#include <memory>
#include <span>

#include "caffe/compress/codec.hpp"
#include "caffe/error.hpp"

namespace caffe::codec {

// Treats any bytes as a frame: asks its header for the size, makes exactly
// that much room, and decompresses all images and the last one. Returns
// whether that went without an Error. Nothing else may happen.
inline bool DecodesAnything(std::span<const uint8_t> bytes, Context& context) {
  // More than small frames of small tensors can ask for by one wrong bit or
  // two; what is larger only takes time.
  constexpr int64_t kMostValues = 1 << 18;
  try {
    const FrameInfo info = Inspect(bytes);
    const int64_t values = info.shape.count();
    if (values > kMostValues) return false;
    const Codec& codec = FindCodec(info);
    const auto decode = [&](auto zero, ImageRange range, int64_t count) {
      using T = decltype(zero);
      const auto out = std::make_unique<T[]>(count);
      codec.Decompress(bytes, range, context,
                       std::span<T>(out.get(), static_cast<size_t>(count)));
    };
    const auto decode_both = [&](auto zero) {
      decode(zero, {}, values);
      if (info.shape.images() == 0) return;
      decode(zero, {info.shape.images() - 1, 1}, info.shape.image_values());
    };
    if (info.type == DataType::kFloat32) {
      decode_both(float());
    } else {
      decode_both(double());
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace caffe::codec

#endif  // CAFFE_TEST_CODEC_ANY_FRAME_HPP_
