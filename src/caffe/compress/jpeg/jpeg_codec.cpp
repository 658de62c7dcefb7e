#include <bit>
#include <cmath>

#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"
#include "compress/jpeg/huffman.hpp"
#include "compress/jpeg/transform.hpp"

namespace caffe::codec {

namespace {

using namespace jpeg;

// How a tensor's values are laid out as pictures, one after the other.
struct Picture {
  uint32_t width = 1;
  uint32_t height = 1;

  size_t values() const { return size_t{width} * height; }
  // Of so many values; the last picture of a tensor may have fewer.
  size_t rows(size_t n) const { return (n + width - 1) / width; }
  size_t tiles(size_t n) const {
    return size_t{(width + kTile - 1) / kTile} *
           ((rows(n) + kTile - 1) / kTile);
  }
};

constexpr size_t kMaxPictureValues = size_t{1} << 18;
constexpr size_t kMaxWidth = kMaxPictureValues / kTile;
// Planes below this size share a picture, and so its scale.
constexpr size_t kMinPictureValues = 512;
// Tensors without planes are folded.
constexpr uint32_t kFold = 64;

Picture ChoosePicture(const Shape& shape) {
  const int axes = shape.axes;
  const auto width = static_cast<size_t>(axes > 0 ? shape.extent[axes - 1] : 1);
  const auto height =
      static_cast<size_t>(axes > 2 ? shape.extent[axes - 2] : 1);
  if (width < 4 || height < 2 || width > kMaxWidth) return {kFold, kFold};
  size_t rows = height;
  if (width * height < kMinPictureValues) {
    const size_t plane = width * height;
    rows *= (kMinPictureValues + plane - 1) / plane;
  }
  if (rows > kMaxPictureValues / width) {
    rows = kMaxPictureValues / width / kTile * kTile;
  }
  return {static_cast<uint32_t>(width), static_cast<uint32_t>(rows)};
}

// The largest size among the values, infinite or not a number if one of them
// is.
template <typename T>
T LargestSize(const T* values, size_t n) {
  // Sizes compare as their bits do.
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kSize = ~Bits{0} >> 1;
  Bits largest = 0;
  for (size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::bit_cast<Bits>(values[i]) & kSize);
  }
  return std::bit_cast<T>(largest);
}

// Values are scaled to this much, as if they had eight bits.
constexpr int kAmplitude = 127;
// Pictures of smaller values cannot be scaled up in float; those of values
// within this factor of the largest number might become infinite.
constexpr double kLeastSize = 0x1p-100;
constexpr int kOvershoot = 16;

void EncodeTile(const int16_t* coefficients, uint64_t non_zero, int* first,
                BitWriter* bits) {
  const int difference = coefficients[0] - *first;
  *first = coefficients[0];
  const int size = SizeInBits(difference);
  bits->Put(kFirstCode.word(size) << size | BitsOf(difference, size),
            kFirstCode.length(size) + size);
  uint64_t in_zigzag = 0;
  for (non_zero &= ~uint64_t{1}; non_zero != 0; non_zero &= non_zero - 1) {
    in_zigzag |= uint64_t{1} << kZigzagPlace[std::countr_zero(non_zero)];
  }
  int last = 0;
  for (; in_zigzag != 0; in_zigzag &= in_zigzag - 1) {
    const int at = std::countr_zero(in_zigzag);
    int zeros = at - last - 1;
    for (; zeros > 15; zeros -= 16) {
      bits->Put(kOtherCode.word(kSixteenZeros),
                kOtherCode.length(kSixteenZeros));
    }
    const int value = coefficients[kZigzag[at]];
    const int n = SizeInBits(value);
    const int symbol = zeros << 4 | n;
    bits->Put(kOtherCode.word(symbol) << n | BitsOf(value, n),
              kOtherCode.length(symbol) + n);
    last = at;
  }
  if (last < kTileValues - 1) {
    bits->Put(kOtherCode.word(kEndOfTile), kOtherCode.length(kEndOfTile));
  }
}

// Returns whether the bits were those of a tile.
bool DecodeTile(BitReader* bits, int* first, int16_t* coefficients) {
  std::fill_n(coefficients, kTileValues, int16_t{0});
  const auto next = [bits](const HuffmanCode& code) {
    bits->Fill();
    int length = 0;
    const int symbol = code.Find(bits->Peek(HuffmanCode::kMaxLength), &length);
    bits->Skip(length);
    return symbol;
  };
  const int size = next(kFirstCode);
  if (size == HuffmanCode::kNone) return false;
  *first += ValueOf(bits->Take(size), size);
  coefficients[0] = static_cast<int16_t>(*first);
  for (int at = 1; at < kTileValues; ++at) {
    const int symbol = next(kOtherCode);
    if (symbol == kEndOfTile) break;
    if (symbol == HuffmanCode::kNone) return false;
    at += symbol >> 4;
    if (at >= kTileValues) return false;
    const int n = symbol & 15;
    coefficients[kZigzag[at]] = static_cast<int16_t>(ValueOf(bits->Take(n), n));
  }
  return !bits->IsBeyondEnd();
}

// JPEG's transform, quantisation and code for every plane of a tensor, as
// JPEG-ACT has it, at the level FAST with the table of JPEG at quality 80, at
// DENSE with a flat one.
struct JpegCoder : BlockCoderBase {
  static constexpr std::string_view kName = "jpeg";
  static constexpr std::string_view kGuarantee =
      "none: the error follows the picture, and zeros are not exact; planes "
      "with infinities or NaN exact";
  static constexpr uint8_t kId = 10;
  static constexpr bool kIsExact = false;

  Picture picture;
  Table table = Table::kJpeg80;

  void Choose(const Shape& shape, const Settings& settings) {
    picture = ChoosePicture(shape);
    table = settings.level == Level::kFast ? Table::kJpeg80 : Table::kFlat;
    const size_t pictures =
        std::max<size_t>(1, block_values / picture.values());
    block_values = static_cast<uint32_t>(pictures * picture.values());
  }

  static constexpr size_t kMetaBytes = 2 * sizeof(uint32_t) + sizeof(Table);
  void Write(uint8_t*& to) const {
    Store(to, picture.width);
    Store(to, picture.height);
    Store(to, table);
  }
  void Read(ByteReader* in) {
    picture.width = in->Get<uint32_t>();
    picture.height = in->Get<uint32_t>();
    table = in->Get<Table>();
    if (picture.width < 1 || picture.height < 1 ||
        picture.width > kMaxPictureValues ||
        picture.height > kMaxPictureValues / picture.width ||
        block_values % picture.values() != 0 || table > Table::kFlat) {
      Damaged("impossible pictures");
    }
  }

  size_t Pictures(size_t n) const {
    return (n + picture.values() - 1) / picture.values();
  }

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    // Bits of a first coefficient, and of one of the others.
    constexpr size_t kTileBits =
        (9 + kMaxFirstBits) +
        (kTileValues - 1) * (HuffmanCode::kMaxLength + kMaxOtherBits);
    return Pictures(n) * (sizeof(T) + picture.tiles(picture.values()) *
                                          (kTileBits / 8 + 1)) +
           n * sizeof(T);
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* out) const {
    uint8_t* to = out;
    const size_t pictures = Pictures(n);
    for (size_t p = 0; p < pictures; ++p) Store(to, ScaleOf(values, n, p));
    for (size_t p = 0; p < pictures; ++p) {
      if (ScaleAt<T>(out, p) >= T(0)) continue;
      std::memcpy(to, values + p * picture.values(), Count(n, p) * sizeof(T));
      to += Count(n, p) * sizeof(T);
    }
    BitWriter bits(to);
    for (size_t p = 0; p < pictures; ++p) {
      const T scale = ScaleAt<T>(out, p);
      if (scale > T(0)) {
        EncodePicture(values + p * picture.values(), Count(n, p), scale, &bits);
      }
    }
    return bits.Finish() - out;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* /*scratch*/,
              T* values) const {
    ByteReader in(bytes);
    const size_t pictures = Pictures(n);
    const auto scales = in.Take(pictures * sizeof(T));
    for (size_t p = 0; p < pictures; ++p) {
      const T scale = ScaleAt<T>(scales.data(), p);
      const size_t count = Count(n, p);
      T* const to = values + p * picture.values();
      if (scale < T(0)) {
        std::memcpy(to, in.Take(count * sizeof(T)).data(), count * sizeof(T));
      } else if (scale == T(0)) {
        std::fill_n(to, count, T(0));
      }
    }
    BitReader bits(in.Rest());
    for (size_t p = 0; p < pictures; ++p) {
      const T scale = ScaleAt<T>(scales.data(), p);
      if (scale > T(0) && !DecodePicture(&bits, scale, Count(n, p),
                                         values + p * picture.values())) {
        return false;
      }
      if (std::isnan(scale)) return false;
    }
    return bits.IsAtEnd();
  }

 private:
  // How many of n values are in picture p.
  size_t Count(size_t n, size_t p) const {
    return std::min(picture.values(), n - p * picture.values());
  }

  // What the picture's numbers are to be multiplied by; 0 for a picture of
  // zeros, negative for one that is to be kept as it is.
  template <typename T>
  T ScaleOf(const T* values, size_t n, size_t p) const {
    const T largest = LargestSize(values + p * picture.values(), Count(n, p));
    if (largest == T(0)) return T(0);
    if (!(largest < std::numeric_limits<T>::max() / kOvershoot) ||
        largest < T(kLeastSize)) {
      return T(-1);
    }
    return largest / kAmplitude;
  }
  template <typename T>
  static T ScaleAt(const uint8_t* scales, size_t p) {
    T scale;
    std::memcpy(&scale, scales + p * sizeof(T), sizeof(T));
    return scale;
  }

  template <typename T>
  void EncodePicture(const T* values, size_t n, T scale,
                     BitWriter* bits) const {
    const Transform& transform = BestTransform();
    const Steps& steps = kSteps[static_cast<int>(table)];
    const T inverse = 1 / scale;
    int16_t coefficients[kTileValues];
    float copy[kTileValues];
    int first = 0;
    const size_t rows = picture.rows(n);
    for (size_t y = 0; y < rows; y += kTile) {
      for (size_t x = 0; x < picture.width; x += kTile) {
        const bool inside =
            x + kTile <= picture.width && (y + kTile) * picture.width <= n;
        uint64_t non_zero;
        if (std::is_same_v<T, float> && inside) {
          non_zero = transform.forward(
              reinterpret_cast<const float*>(values) + y * picture.width + x,
              picture.width, static_cast<float>(inverse), steps, coefficients);
        } else {
          CopyTile(values, n, y, x, inverse, copy);
          non_zero = transform.forward(copy, kTile, 1, steps, coefficients);
        }
        EncodeTile(coefficients, non_zero, &first, bits);
      }
    }
  }

  // Beyond the edges, the picture's last row and column go on.
  template <typename T>
  void CopyTile(const T* values, size_t n, size_t y, size_t x, T inverse,
                float* tile) const {
    for (size_t r = 0; r < kTile; ++r) {
      const size_t row = std::min(y + r, picture.rows(n) - 1);
      for (size_t c = 0; c < kTile; ++c) {
        const size_t column = std::min<size_t>(x + c, picture.width - 1);
        const size_t at = std::min(row * picture.width + column, n - 1);
        tile[r * kTile + c] = static_cast<float>(values[at] * inverse);
      }
    }
  }

  template <typename T>
  bool DecodePicture(BitReader* bits, T scale, size_t n, T* values) const {
    const Transform& transform = BestTransform();
    const Steps& steps = kSteps[static_cast<int>(table)];
    int16_t coefficients[kTileValues];
    float copy[kTileValues];
    int first = 0;
    const size_t rows = picture.rows(n);
    for (size_t y = 0; y < rows; y += kTile) {
      for (size_t x = 0; x < picture.width; x += kTile) {
        if (!DecodeTile(bits, &first, coefficients)) return false;
        const bool inside =
            x + kTile <= picture.width && (y + kTile) * picture.width <= n;
        if (std::is_same_v<T, float> && inside) {
          transform.inverse(
              coefficients, steps, static_cast<float>(scale),
              reinterpret_cast<float*>(values) + y * picture.width + x,
              picture.width);
          continue;
        }
        transform.inverse(coefficients, steps, 1, copy, kTile);
        for (size_t r = 0; r < kTile && y + r < rows; ++r) {
          const size_t begin = (y + r) * picture.width + x;
          const size_t end =
              std::min({n, begin + kTile, (y + r + 1) * picture.width});
          for (size_t at = begin; at < end; ++at) {
            values[at] = copy[r * kTile + at - begin] * scale;
          }
        }
      }
    }
    return true;
  }
};

}  // namespace

const Codec& JpegCodecInstance() {
  static const BlockCodec<JpegCoder> codec;
  return codec;
}

}  // namespace caffe::codec
