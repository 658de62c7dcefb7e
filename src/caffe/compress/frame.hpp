#ifndef CAFFE_SRC_COMPRESS_FRAME_HPP_
#define CAFFE_SRC_COMPRESS_FRAME_HPP_

#include <cstring>

#include "caffe/compress/codec.hpp"

// What all frames have in common: a header with the tensor's type and shape,
// then the codec's own bytes, of which the header's checksum covers the first
// so many. docs/codec_format.md has the layout.
namespace caffe::codec {

// The header of a frame for a tensor of that many axes.
constexpr size_t kMaxHeaderBytes = 32 + 8 * Shape::kMaxAxes;
size_t HeaderBytes(const Shape& shape);

// Writes the header of a frame whose codec wrote `payload` bytes behind it.
// Call it last: the checksum is made of the header and of the first `covered`
// bytes of the payload. Returns the size of the frame.
size_t FinishFrame(uint8_t codec, const ConstTensor& tensor,
                   const Settings& settings, size_t payload, size_t covered,
                   uint8_t* frame);

struct OpenedFrame {
  FrameInfo info;
  std::span<const uint8_t> payload;
};

// Reads the header, checks the checksum, the codec and the type.
OpenedFrame OpenFrame(std::span<const uint8_t> frame, uint8_t codec,
                      DataType type);

// The range with its count worked out. Throws Error unless it lies in the
// shape and `values` is its size.
ImageRange CheckRange(const Shape& shape, ImageRange range, size_t values);

// "the frame is damaged: why".
[[noreturn]] void Damaged(const std::string& why);

// Little-endian numbers in unaligned bytes.
template <typename T>
void Store(uint8_t*& to, T value) {
  std::memcpy(to, &value, sizeof(T));
  to += sizeof(T);
}

// Takes numbers and runs of bytes from the front of a span; Damaged() when it
// is too short.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T Get() {
    T value;
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const uint8_t> Take(size_t n);
  std::span<const uint8_t> Rest() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_FRAME_HPP_
