#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>
#include <functional>
#include <map>

#include "caffe/compress/codec.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"
#include "plain_frame.hpp"

// Decoders written from docs/codec_format.md and from nothing else: one value,
// one bit at a time, trusting the frame. They must agree with the codecs.
namespace caffe::codec {
namespace {

// What the codec adds to the payload, for its blocks' decoders.
struct Added {
  uint32_t width = 0;
  uint32_t height = 0;
  int table = 0;
  double bound = 0;
};

template <typename T>
using DecodeBlock =
    std::function<std::vector<T>(Bytes, size_t n, const Added&)>;

template <typename T>
std::vector<T> DecodeRaw(Bytes in, size_t n, const Added&) {
  std::vector<T> values(n);
  for (T& value : values) value = in.Get<T>();
  EXPECT_EQ(0, in.left());
  return values;
}

template <typename T>
std::vector<T> DecodeHalves(Bytes in, size_t n, const Added&) {
  std::vector<T> values(n);
  for (T& value : values) {
    const auto half = in.Get<uint16_t>();
    const int exponent = half >> 10 & 31;
    const double digits = half & 1023;
    double size = exponent == 0 ? digits * std::pow(2, -24)
                  : exponent == 31
                      ? (digits == 0 ? INFINITY : NAN)
                      : (1024 + digits) * std::pow(2, exponent - 25);
    value = static_cast<T>(half & 0x8000 ? -size : size);
  }
  EXPECT_EQ(0, in.left());
  return values;
}

template <typename T>
std::vector<T> DecodePlanes(Bytes in, size_t n, const Added&) {
  std::vector<uint8_t> bytes(n * sizeof(T));
  for (size_t k = 0; k < sizeof(T); ++k) {
    const auto packed = in.Take(in.Get<uint32_t>());
    std::vector<uint8_t> plane(packed.begin(), packed.end());
    if (packed.size() != n) {
      plane.resize(n);
      EXPECT_EQ(n,
                ZSTD_decompress(plane.data(), n, packed.data(), packed.size()));
    }
    for (size_t i = 0; i < n; ++i) bytes[i * sizeof(T) + k] = plane[i];
  }
  EXPECT_EQ(0, in.left());
  return DecodeRaw<T>(Bytes(bytes), n, {});
}

std::vector<bool> TakeBits(Bytes* in, size_t n) {
  const auto bytes = in->Take((n + 7) / 8);
  std::vector<bool> bits(n);
  for (size_t i = 0; i < n; ++i) bits[i] = bytes[i / 8] >> i % 8 & 1;
  return bits;
}

template <typename T>
std::vector<T> DecodeBits(Bytes in, size_t n, const Added&) {
  const std::vector<bool> bits = TakeBits(&in, n);
  return std::vector<T>(bits.begin(), bits.end());
}

template <typename T, int kBits>
std::vector<T> DecodeGroups(Bytes in, size_t n, const Added&) {
  std::vector<T> values;
  while (values.size() < n) {
    const size_t m = std::min<size_t>(256, n - values.size());
    const T least = in.Get<T>();
    const T step = in.Get<T>();
    if (step < 0) {
      for (size_t i = 0; i < m; ++i) values.push_back(in.Get<T>());
      continue;
    }
    const size_t s = (m * kBits + 7) / 8;
    const auto bytes = in.Take(s);
    for (size_t i = 0; i < m; ++i) {
      const int level = bytes[i % s] >> i / s * kBits & ((1 << kBits) - 1);
      const T product = static_cast<T>(level) * step;
      values.push_back(product + least);
    }
  }
  EXPECT_EQ(0, in.left());
  return values;
}

template <typename T>
std::vector<T> DecodeZvc(Bytes in, size_t n, const Added&) {
  std::vector<T> values;
  for (const bool bit : TakeBits(&in, n)) {
    values.push_back(bit ? in.Get<T>() : T(0));
  }
  EXPECT_EQ(0, in.left());
  return values;
}

template <typename T>
std::vector<T> DecodeCsr(Bytes in, size_t n, const Added&) {
  std::vector<T> values(n);
  for (size_t row = 0; row < n; row += 256) {
    const auto columns = in.Take(in.Get<uint16_t>());
    for (const uint8_t column : columns) values[row + column] = in.Get<T>();
  }
  EXPECT_EQ(0, in.left());
  return values;
}

class BitStream {
 public:
  explicit BitStream(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  int Next() {
    const int bit = bytes_[at_ / 8] >> (7 - at_ % 8) & 1;
    ++at_;
    return bit;
  }
  // Of JPEG's tables: so many codes of each length.
  int Symbol(const std::vector<int>& counts, const std::vector<int>& symbols) {
    int code = 0, first = 0, at = 0;
    for (const int count : counts) {
      code = code * 2 + Next();
      if (code - first < count) return symbols[at + code - first];
      at += count;
      first = (first + count) * 2;
    }
    ADD_FAILURE() << "no such code";
    return 0;
  }
  int Number(int size) {
    int number = 0;
    for (int i = 0; i < size; ++i) number = number * 2 + Next();
    return size > 0 && number < 1 << (size - 1) ? number - (1 << size) + 1
                                                : number;
  }
  bool AtEnd() const { return (at_ + 7) / 8 == bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// Tables K.3 and K.5 of ITU-T T.81.
const std::vector<int> kDcCounts = {0, 1, 5, 1, 1, 1, 1, 1, 1};
const std::vector<int> kDcSymbols = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
const std::vector<int> kAcCounts = {0, 2, 1, 3, 3, 2, 4, 3,
                                    5, 5, 4, 4, 0, 0, 1, 125};

// K.5's shorter codes; the long ones are in order of run and size.
std::vector<int> AcSymbols() {
  std::vector<int> symbols = {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12,
                              0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
                              0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08,
                              0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0,
                              0x24, 0x33, 0x62, 0x72, 0x82};
  for (int run = 0; run < 16; ++run) {
    for (int size = 1; size <= 10; ++size) {
      const int symbol = run * 16 + size;
      if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) {
        symbols.push_back(symbol);
      }
    }
  }
  return symbols;
}

// Of K.1, and the zigzag of its coefficients.
constexpr int kLuminance[8][8] = {
    {16, 11, 10, 16, 24, 40, 51, 61},     {12, 12, 14, 19, 26, 58, 60, 55},
    {14, 13, 16, 24, 40, 57, 69, 56},     {14, 17, 22, 29, 51, 87, 80, 62},
    {18, 22, 37, 56, 68, 109, 103, 77},   {24, 35, 55, 64, 81, 104, 113, 92},
    {49, 64, 78, 87, 103, 121, 120, 101}, {72, 92, 95, 98, 112, 100, 103, 99}};
constexpr int kZigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18,
                             11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
                             13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43,
                             36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45,
                             38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// The 64 values of the next tile, as if the scale were 1.
std::vector<double> DecodeTile(BitStream* bits, int table, int* previous) {
  static const std::vector<int> ac_symbols = AcSymbols();
  double coefficients[8][8] = {};
  const auto set = [&](int at, int value) {
    const int v = kZigzag[at] / 8;
    const int u = kZigzag[at] % 8;
    const double step = table == 0 ? std::floor(kLuminance[v][u] * 0.4 + 0.5)
                                   : (at == 0 ? 8 : 16);
    coefficients[v][u] = step * value;
  };
  *previous += bits->Number(bits->Symbol(kDcCounts, kDcSymbols));
  set(0, *previous);
  for (int at = 1; at < 64; ++at) {
    const int symbol = bits->Symbol(kAcCounts, ac_symbols);
    if (symbol == 0) break;
    at += symbol / 16;
    set(at, bits->Number(symbol % 16));
  }
  std::vector<double> values(64);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      for (int v = 0; v < 8; ++v) {
        for (int u = 0; u < 8; ++u) {
          values[y * 8 + x] +=
              (v == 0 ? std::sqrt(0.5) : 1) * (u == 0 ? std::sqrt(0.5) : 1) /
              4 * coefficients[v][u] * std::cos((2 * y + 1) * v * M_PI / 16) *
              std::cos((2 * x + 1) * u * M_PI / 16);
        }
      }
    }
  }
  return values;
}

template <typename T>
std::vector<T> DecodePictures(Bytes in, size_t n, const Added& added) {
  const size_t w = added.width;
  const size_t picture = w * added.height;
  std::vector<T> scales((n + picture - 1) / picture);
  for (T& scale : scales) scale = in.Get<T>();
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) {
    if (scales[i / picture] < 0) values[i] = in.Get<T>();
  }
  BitStream bits(in.Take(in.left()));
  for (size_t p = 0; p < scales.size(); ++p) {
    if (scales[p] <= 0) continue;
    const size_t count = std::min(picture, n - p * picture);
    const size_t rows = (count + w - 1) / w;
    int previous = 0;
    for (size_t y = 0; y < rows; y += 8) {
      for (size_t x = 0; x < w; x += 8) {
        const auto tile = DecodeTile(&bits, added.table, &previous);
        for (size_t k = 0; k < 64; ++k) {
          const size_t at = (y + k / 8) * w + x + k % 8;
          if (x + k % 8 < w && at < count) {
            values[p * picture + at] = static_cast<T>(tile[k] * scales[p]);
          }
        }
      }
    }
  }
  EXPECT_TRUE(bits.AtEnd());
  return values;
}

template <typename T>
std::vector<T> DecodeShifted(Bytes in, size_t n, const Added& added) {
  const T step = 2 * static_cast<T>(added.bound);
  const T origin = in.Get<T>();
  std::vector<T> kept(in.Get<uint32_t>());
  for (T& value : kept) value = in.Get<T>();
  const auto packed = in.Take(in.Get<uint32_t>());
  EXPECT_EQ(0, in.left());
  std::vector<uint8_t> bytes(n);
  EXPECT_EQ(n, ZSTD_decompress(bytes.data(), n, packed.data(), packed.size()));
  std::vector<T> values;
  size_t next = 0;
  int64_t c = 0;
  for (const uint8_t byte : bytes) {
    if (byte == 0) {
      values.push_back(kept[next++]);
      continue;
    }
    c += byte - 128;
    const T product = static_cast<T>(c) * step;
    values.push_back(product + origin);
  }
  EXPECT_EQ(kept.size(), next);
  return values;
}

template <typename T>
std::vector<T> DecodeFrame(const std::vector<uint8_t>& frame) {
  const std::map<int, DecodeBlock<T>> decoders = {
      {2, DecodeHalves<T>},    {3, DecodePlanes<T>},    {4, DecodeBits<T>},
      {5, DecodeGroups<T, 8>}, {6, DecodeGroups<T, 4>}, {7, DecodeGroups<T, 2>},
      {8, DecodeZvc<T>},       {9, DecodeCsr<T>},       {10, DecodePictures<T>},
      {11, DecodeShifted<T>}};
  const PlainFrame header = ReadPlainFrame(frame);
  EXPECT_EQ(sizeof(T) == 8, header.is_double);
  EXPECT_TRUE(header.has_checksums);
  const int codec = header.codec;
  const uint64_t count = header.count;
  Bytes in(header.payload);
  const auto b = in.Get<uint32_t>();
  Added added;
  if (codec >= 5 && codec <= 7) in.Get<uint32_t>();
  if (codec == 10) {
    added.width = in.Get<uint32_t>();
    added.height = in.Get<uint32_t>();
    added.table = in.Get<uint8_t>();
  }
  if (codec == 11) added.bound = in.Get<double>();
  Bytes directory(in.Take((count + b - 1) / b * 8));
  EXPECT_EQ(header.covered, header.payload.size() - in.left());
  std::vector<T> values;
  while (values.size() < count) {
    const size_t n = std::min<size_t>(b, count - values.size());
    const auto size_and_kind = directory.Get<uint32_t>();
    const auto bytes = in.Take(size_and_kind & 0x3FFFFFFF);
    EXPECT_EQ(directory.Get<uint32_t>(), Checksum(bytes));
    const auto block = size_and_kind >> 30 == 2
                           ? DecodeRaw<T>(Bytes(bytes), n, added)
                           : decoders.at(codec)(Bytes(bytes), n, added);
    values.insert(values.end(), block.begin(), block.end());
  }
  EXPECT_EQ(0, in.left());
  return values;
}

template <typename T>
void ExpectSameAsCodec(const Codec& codec, const TestTensor<T>& tensor) {
  for (const Level level : {Level::kFast, Level::kDense}) {
    const auto frame = Pack(codec, tensor, {.bound = 0.01, .level = level});
    const auto expected = Unpack<T>(codec, frame, tensor.values.size());
    const auto values = DecodeFrame<T>(frame);
    ASSERT_EQ(expected.size(), values.size());
    T largest = 0;
    for (const T v : tensor.values) {
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (codec.name() == "jpeg" && std::isfinite(expected[i])) {
        ASSERT_NEAR(expected[i], values[i], 1e-5 * largest) << i;
      } else if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(values[i])) << i;
      } else {
        ASSERT_EQ(expected[i], values[i]) << codec.name() << " " << i;
      }
    }
  }
}

TEST(CodecFormat, DecodersWrittenFromThePageAgreeWithTheCodecs) {
  for (const Codec* const codec : Codecs()) {
    if (codec->name() == "sz") continue;  // See test_sz_format.
    SCOPED_TRACE(codec->name());
    TensorGenerator generator(1);
    for (int i = 0; i < 60 && !::testing::Test::HasFatalFailure(); ++i) {
      ExpectSameAsCodec(*codec, generator.RandomTensor<float>(2000));
      ExpectSameAsCodec(*codec, generator.RandomTensor<double>(2000));
    }
    ExpectSameAsCodec(
        *codec,
        generator.Tensor<float>(TensorGenerator::kSmoothRelu, {2, 9, 40, 70}));
  }
}

}  // namespace
}  // namespace caffe::codec
