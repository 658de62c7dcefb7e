#ifndef CAFFE_COMPRESS_CODEC_HPP_
#define CAFFE_COMPRESS_CODEC_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Codecs turn tensors into self-describing frames and back. This header sees
// numbers and spans only; docs/codec_format.md specifies every byte of a frame.

namespace caffe::codec {

enum class DataType : uint8_t { kFloat32 = 0, kFloat64 = 1 };

size_t SizeOf(DataType type);

// Extents of a tensor, outermost (the images of a batch) first. No axes at all
// mean a single value.
struct Shape {
  static constexpr int kMaxAxes = 6;

  Shape() = default;
  // Throws Error for more than kMaxAxes axes or more values than 2^40.
  explicit Shape(std::span<const int64_t> extents);
  Shape(std::initializer_list<int64_t> extents);

  int64_t count() const;
  // How many items the first axis has, and how many values one of them.
  int64_t images() const { return axes > 0 ? extent[0] : 1; }
  int64_t image_values() const;
  bool operator==(const Shape& other) const;

  int axes = 0;
  int64_t extent[kMaxAxes] = {};
};

// Values to compress. Owns nothing.
struct ConstTensor {
  ConstTensor(const float* values, const Shape& s)
      : data(values), type(DataType::kFloat32), shape(s) {}
  ConstTensor(const double* values, const Shape& s)
      : data(values), type(DataType::kFloat64), shape(s) {}

  const void* data;
  DataType type;
  Shape shape;
};

enum class Rounding : uint8_t {
  // To the nearest multiple of 2 * bound: never flips a sign; biased, because
  // everything smaller than the bound becomes zero.
  kNearest = 0,
  // Subtractive dither: the error is uniform in +-bound and independent of the
  // value. Zeros stay zeros, but small values may change sign.
  kDither = 1,
};

enum class Level : uint8_t { kFast = 0, kDense = 1 };

// How to compress. Codecs without a bound, rounding or level ignore them.
struct Settings {
  // Largest absolute error. Zero asks for exact values.
  double bound = 0;
  Rounding rounding = Rounding::kNearest;
  Level level = Level::kDense;
  // Of the dither and of stochastic rounding; kept in the frame.
  uint32_t seed = 0;
  // Whether damage is to be noticed when the frame is read.
  bool checksum = true;
};

// Which images of a batch to decompress.
struct ImageRange {
  int64_t first = 0;
  int64_t count = -1;  // -1: to the end
};

// Scratch memory of the calls that use it, one after the other; it grows to
// what the largest call needed. One for each thread that calls codecs.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Uninitialised room for n values of T for slot `slot`, valid until the next
  // request for the same slot.
  template <typename T>
  std::span<T> Scratch(int slot, size_t n) {
    return {reinterpret_cast<T*>(Bytes(slot, n * sizeof(T))), n};
  }

  size_t bytes() const;
  void Release();

 private:
  uint8_t* Bytes(int slot, size_t n);

  struct Buffer {
    std::unique_ptr<uint8_t[]> storage;
    uint8_t* aligned = nullptr;
    size_t size = 0;
  };
  std::vector<Buffer> buffers_;
};

// What the header of a frame says.
struct FrameInfo {
  uint8_t codec = 0;
  DataType type = DataType::kFloat32;
  Shape shape;
  double bound = 0;
  bool has_checksum = false;
  size_t frame_bytes = 0;
};

// A codec is stateless: one instance serves all threads. The work inside a
// call is shared among OpenMP's threads; the bytes do not depend on how many.
class Codec {
 public:
  virtual ~Codec() = default;

  // By which settings ask for it, such as "sz".
  virtual std::string_view name() const = 0;
  // One sentence for users: what decompressed values may differ by.
  virtual std::string_view guarantee() const = 0;
  // Written into every frame. Never renumber.
  virtual uint8_t id() const = 0;

  // Whether only zeros are zero after decompression.
  virtual bool KeepsNonZeros(const Settings& /*settings*/) const {
    return false;
  }

  // What a frame for such a tensor takes at most.
  virtual size_t MaxBytes(const Shape& shape, DataType type) const = 0;

  // Writes a frame and returns its size.
  // REQUIRES: out.size() >= MaxBytes(in.shape, in.type).
  virtual size_t Compress(const ConstTensor& in, const Settings& settings,
                          Context& context, std::span<uint8_t> out) const = 0;

  // About how large the frame would be, from a sample of the values.
  virtual size_t EstimateBytes(const ConstTensor& in, const Settings& settings,
                               Context& context) const = 0;

  // Restores the images in `range`. Throws Error for a frame that is damaged
  // or not this codec's, or when `out` is not as large as the range's values;
  // never reads outside the frame or writes outside `out`.
  virtual void Decompress(std::span<const uint8_t> frame, ImageRange range,
                          Context& context, std::span<float> out) const = 0;
  virtual void Decompress(std::span<const uint8_t> frame, ImageRange range,
                          Context& context, std::span<double> out) const = 0;
};

// All codecs, the default one first.
std::span<const Codec* const> Codecs();
// Throws Error, listing the known ones, for a name that no codec has.
const Codec& FindCodec(std::string_view name);
// The codec that wrote a frame. Throws Error when there is none.
const Codec& FindCodec(const FrameInfo& info);

// Reads a frame's header. Throws Error when it is not a frame.
FrameInfo Inspect(std::span<const uint8_t> frame);

}  // namespace caffe::codec

#endif  // CAFFE_COMPRESS_CODEC_HPP_
