#include "plain_sz_decoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "plain_frame.hpp"

namespace caffe::codec {
namespace {

constexpr int kLanes = 32;

// Bits from the lowest of the first byte upwards.
class Bits {
 public:
  explicit Bits(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  int Next() {
    Require(at_ / 8 < bytes_.size(), "bits are missing");
    const int bit = bytes_[at_ / 8] >> at_ % 8 & 1;
    ++at_;
    return bit;
  }
  int Number(int bits) {
    int number = 0;
    for (int i = 0; i < bits; ++i) number |= Next() << i;
    return number;
  }
  // What follows is the rest of a byte begun and 8 bytes, all zero.
  void End() {
    while (at_ % 8 != 0) Require(Next() == 0, "bits after the last");
    Require(bytes_.size() == at_ / 8 + 8, "wrong number of bits");
    Require(Number(31) == 0 && Number(31) == 0 && Number(2) == 0,
            "bits after the last");
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

// Of one context.
struct Frequencies {
  std::array<int, 256> frequency = {};
  std::array<int, 256> below = {};
  std::array<int, 1024> symbol = {};
};

struct Model {
  bool predicts = false;
  std::vector<int> activity_thresholds;
  std::vector<int> level_thresholds;
  std::vector<Frequencies> contexts;
};

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
  Model model;
};

int ReadFrequency(Bits* bits) {
  const int width = bits->Number(4);
  Require(width <= 10, "a frequency is too large");
  if (width == 0) return 0;
  return 1 << (width - 1) | bits->Number(width - 1);
}

Frequencies ReadFrequencies(Bits* bits) {
  Frequencies table;
  const int first = bits->Number(8);
  const int last = bits->Number(8);
  Require(1 <= first && first <= last, "wrong first or last symbol");
  table.frequency[0] = ReadFrequency(bits);
  Require(table.frequency[0] >= 1, "the escape has no frequency");
  for (int s = first; s <= last; ++s) table.frequency[s] = ReadFrequency(bits);
  int sum = 0;
  for (int s = 0; s < 256; ++s) {
    table.below[s] = sum;
    for (int i = 0; i < table.frequency[s]; ++i) {
      Require(sum < 1024, "frequencies above 1024");
      table.symbol[sum++] = s;
    }
  }
  Require(sum == 1024, "frequencies below 1024");
  return table;
}

Model ReadModel(Bytes in) {
  Model model;
  const int predicts = in.Get<uint8_t>();
  Require(predicts <= 1, "wrong kind of tokens");
  model.predicts = predicts == 1;
  const int activities = in.Get<uint8_t>();
  const int levels = in.Get<uint8_t>();
  Require(activities >= 1 && levels >= 1 && activities * levels <= 16,
          "wrong number of classes");
  for (int i = 1; i < activities; ++i) {
    const int threshold = in.Get<uint8_t>();
    Require(threshold <= 14, "wrong activity threshold");
    model.activity_thresholds.push_back(threshold);
  }
  for (int i = 1; i < levels; ++i) {
    const auto threshold = in.Get<int8_t>();
    Require(-16 <= threshold && threshold <= 14, "wrong level threshold");
    model.level_thresholds.push_back(threshold);
  }
  Bits bits(in.Take(in.left()));
  for (int i = 0; i < activities * levels; ++i) {
    model.contexts.push_back(ReadFrequencies(&bits));
  }
  bits.End();
  return model;
}

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
  const uint64_t block = uint64_t{kLanes} * header.run;
  Require(header.row < block, "wrong row");
  Require(header.blocks == (count + block - 1) / block,
          "wrong number of blocks");
  const auto model_bytes = in->Take(in->Get<uint32_t>());
  if (dense && header.blocks > 0) {
    header.model = ReadModel(Bytes(model_bytes));
  } else {
    Require(model_bytes.empty(), "there is no model");
  }
  return header;
}

int Median(int a, int b, int c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

int CountBelow(const std::vector<int>& thresholds, int x) {
  int below = 0;
  for (const int threshold : thresholds) below += threshold < x ? 1 : 0;
  return below;
}

// Decodes a block of DENSE, lane by lane of one step after the other.
class DenseDecoder {
 public:
  DenseDecoder(const SzHeader& header, Bytes* in, uint32_t words,
               uint32_t escapes)
      : row_(header.row), model_(header.model), words_({}), escapes_({}) {
    for (uint64_t& state : states_) {
      state = in->Get<uint32_t>();
      Require(state >= 1 << 15 && state < uint64_t{1} << 31, "wrong state");
    }
    words_ = Bytes(in->Take(size_t{2} * words));
    escapes_ = Bytes(in->Take(escapes));
  }

  std::vector<int> Decode(size_t n) {
    const size_t steps = (n + kLanes - 1) / kLanes;
    std::vector<int> tokens(steps * kLanes);
    for (size_t t = 0; t < steps; ++t) {
      for (int lane = 0; lane < kLanes; ++lane) {
        int* const token = &tokens[lane * steps + t];
        *token = NextToken(lane, token, t);
        Require(-63 <= *token && *token <= 63, "a token is too large");
      }
    }
    for (size_t i = n; i < tokens.size(); ++i) {
      Require(tokens[i] == 0, "padding is not zero");
    }
    tokens.resize(n);
    for (const uint64_t state : states_) {
      Require(state == 1 << 15, "wrong last state");
    }
    Require(words_.left() == 0 && escapes_.left() == 0, "too many words");
    return tokens;
  }

 private:
  // The lane's token t is to stand at `token`, after those before it.
  int NextToken(int lane, const int* token, size_t t) {
    const int left = t > 0 ? token[-1] : 0;
    const int above = row_ > 0 && t >= row_ ? token[-row_] : left;
    const int corner = row_ > 0 && t > row_ ? token[-row_ - 1] : 0;
    const int prediction = Median(left, above, left + above - corner);
    const int activity =
        std::min(255, std::abs(left - corner) + std::abs(above - corner));
    const int levels = static_cast<int>(model_.level_thresholds.size()) + 1;
    const int context =
        CountBelow(model_.activity_thresholds, activity) * levels +
        CountBelow(model_.level_thresholds, prediction);
    const int symbol = NextSymbol(&states_[lane], model_.contexts[context]);
    if (symbol == 0) return escapes_.Get<int8_t>();
    return symbol - 128 + (model_.predicts ? prediction : 0);
  }

  int NextSymbol(uint64_t* state, const Frequencies& table) {
    const auto rest = static_cast<int>(*state % 1024);
    const int symbol = table.symbol[rest];
    *state =
        table.frequency[symbol] * (*state >> 10) + (rest - table.below[symbol]);
    if (*state < 1 << 15) *state = *state << 16 | words_.Get<uint16_t>();
    return symbol;
  }

  const ptrdiff_t row_;
  const Model& model_;
  std::array<uint64_t, kLanes> states_ = {};
  Bytes words_;
  Bytes escapes_;
};

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
    Require(header_.level == 1, "FAST is not decoded here");
    const std::vector<int> tokens = DenseDecoder(header_, in, a, b).Decode(n);
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
    const size_t n = std::min<uint64_t>(uint64_t{kLanes} * header.run,
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
