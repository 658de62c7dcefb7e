#include "plain_sz_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "plain_frame.hpp"
#include "plain_sz_tokens.hpp"

namespace caffe::codec {
namespace {

// What stands between the frame's header and the directory.
struct SzHeader {
  int level = 0;
  int rounding = 0;
  int low = 0;
  int differences = 0;
  uint32_t seed = 0;
  uint32_t run = 0;
  uint32_t row = 0;
  uint64_t blocks = 0;
  SzModel model;
};

SzHeader ReadSzHeader(Bytes* in, uint64_t count) {
  SzHeader header;
  header.level = in->Get<uint8_t>();
  header.rounding = in->Get<uint8_t>();
  header.low = in->Get<uint8_t>();
  header.differences = in->Get<uint8_t>();
  header.seed = in->Get<uint32_t>();
  header.run = in->Get<uint32_t>();
  header.row = in->Get<uint32_t>();
  header.blocks = in->Get<uint64_t>();
  const bool dense = header.level == 1;
  Require(header.level <= 1 && header.rounding <= 1 && header.low <= 14 &&
              header.differences <= (dense ? 0 : 3),
          "wrong settings");
  Require(1 <= header.run && header.run <= 65536, "wrong run");
  const uint64_t block = uint64_t{kSzLanes} * header.run;
  Require(header.row < block && (header.row > 0 || header.differences < 2),
          "wrong row");
  Require(header.blocks == (count + block - 1) / block,
          "wrong number of blocks");
  const auto model_bytes = in->Take(in->Get<uint32_t>());
  if (dense && header.blocks > 0) {
    header.model = ReadSzModel(Bytes(model_bytes));
  } else {
    Require(model_bytes.empty(), "there is no model");
  }
  return header;
}

// (2 s + 1) / 2^17, of the value at `position` of the tensor.
double Dither(uint64_t position, uint32_t seed) {
  auto h = static_cast<uint32_t>(position / 32 * 16 + position % 16);
  h = h * 0x9E3779B1u + seed;
  h = (h ^ h >> 15) * 0x85EBCA77u;
  h = (h ^ h >> 13) * 0xC2B2AE3Du;
  h = h ^ h >> 16;
  const auto s =
      static_cast<int16_t>(position / 16 % 2 == 0 ? h & 0xFFFF : h >> 16);
  return (2 * s + 1) * 0x1p-17;
}

// The bound in type T, not rounded up and not above a quarter of the largest.
template <typename T>
T BoundOfType(double bound) {
  bound = std::min<double>(bound, std::numeric_limits<T>::max() / 4);
  const T rounded = static_cast<T>(bound);
  return rounded <= bound ? rounded : std::nextafter(rounded, T(0));
}

template <typename T>
class BlockDecoder {
 public:
  BlockDecoder(const SzHeader& header, double bound)
      : header_(header), bound_(BoundOfType<T>(bound)) {}

  // The n values from `position` of the tensor on.
  std::vector<T> Decode(int mode, Bytes in, size_t n, uint64_t position) const {
    std::vector<T> values(n);
    Require(mode <= 2, "no such mode");
    if (mode == 1) {
      values = DecodeCoded(&in, n, position);
    } else if (mode == 2) {
      for (T& value : values) value = in.Get<T>();
    }
    Require(in.left() == 0, "a block is too long");
    return values;
  }

 private:
  std::vector<T> DecodeCoded(Bytes* in, size_t n, uint64_t position) const {
    const auto a = in->Get<uint32_t>();
    const auto b = in->Get<uint32_t>();
    const auto raws = in->Get<uint32_t>();
    Require(header_.level == 1 || b == 0, "FAST has no escapes");
    const std::vector<int> tokens =
        header_.level == 1
            ? DenseTokens(header_.model, header_.row, in, a, b, n)
            : FastTokens(header_.differences, header_.row, in, a, n);
    for (const int token : tokens) {
      Require(-63 <= token && token <= 63, "a token is too large");
    }
    Bytes raw_positions(in->Take(size_t{4} * raws));
    Bytes raw_values(in->Take(sizeof(T) * raws));
    const std::vector<int> low_bits = ReadLowBits(in, tokens);
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) {
      values[i] = Value(tokens[i], low_bits[i], position + i);
    }
    size_t next = 0;  // Positions ascend.
    while (raw_positions.left() > 0) {
      const auto at = raw_positions.Get<uint32_t>();
      Require(next <= at && at < n && tokens[at] == 0,
              "wrong position of a raw value");
      values[at] = raw_values.Get<T>();
      next = at + 1;
    }
    return values;
  }

  std::vector<int> ReadLowBits(Bytes* in,
                               const std::vector<int>& tokens) const {
    std::vector<int> low_bits(tokens.size());
    if (header_.low == 0) return low_bits;
    Bits bits(in->Take(in->left()));
    for (size_t group = 0; group < tokens.size(); group += 64) {
      const size_t end = std::min(group + 64, tokens.size());
      for (int bit = 0; bit < header_.low; ++bit) {
        for (size_t i = group; i < end; ++i) {
          if (tokens[i] != 0) low_bits[i] |= bits.Next() << bit;
        }
      }
    }
    bits.End();
    return low_bits;
  }

  T Value(int token, int low_bits, uint64_t position) const {
    if (token == 0) return 0;
    Require(bound_ >= 4 * std::numeric_limits<T>::min(), "too small a bound");
    const T step = 2 * bound_;
    const int m = (std::abs(token) - 1) << header_.low | low_bits;
    if (header_.rounding == 0) {
      return static_cast<T>(token < 0 ? -m - 1 : m + 1) * step;
    }
    const T code = static_cast<T>(token < 0 ? -m - 1 : m);
    const T shifted = code - static_cast<T>(Dither(position, header_.seed));
    return shifted * step;
  }

  const SzHeader& header_;
  const T bound_;
};

}  // namespace

template <typename T>
std::vector<T> PlainSzDecode(std::span<const uint8_t> bytes) {
  const PlainFrame frame = ReadPlainFrame(bytes);
  Require(frame.codec == 1, "not an sz frame");
  Require(frame.is_double == (sizeof(T) == 8), "of another type");
  Bytes in(frame.payload);
  const SzHeader header = ReadSzHeader(&in, frame.count);
  Bytes directory(in.Take(header.blocks * 8));
  if (frame.has_checksums) {
    Require(frame.covered == frame.payload.size() - in.left(),
            "the checksum covers something else");
  }
  const BlockDecoder<T> decoder(header, frame.bound);
  std::vector<T> values;
  while (values.size() < frame.count) {
    const size_t n = std::min<uint64_t>(uint64_t{kSzLanes} * header.run,
                                        frame.count - values.size());
    const auto size_and_mode = directory.Get<uint32_t>();
    const auto block = in.Take(size_and_mode & 0x3FFFFFFF);
    const auto checksum = directory.Get<uint32_t>();
    Require(!frame.has_checksums || checksum == Checksum(block),
            "wrong checksum of a block");
    const auto decoded = decoder.Decode(static_cast<int>(size_and_mode >> 30),
                                        Bytes(block), n, values.size());
    values.insert(values.end(), decoded.begin(), decoded.end());
  }
  Require(in.left() == 0, "bytes after the last block");
  return values;
}

template std::vector<float> PlainSzDecode<float>(std::span<const uint8_t>);
template std::vector<double> PlainSzDecode<double>(std::span<const uint8_t>);

}  // namespace caffe::codec
