#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compress/sz/bits.hpp"
#include "compress/sz/kernels.hpp"
#include "compress/sz/plain_quantize.hpp"

namespace caffe::codec::sz {

namespace {

size_t Quantize(const Quantizer& quantizer, const float* values, size_t n,
                uint64_t position, int8_t* tokens, uint16_t* low,
                uint32_t* raw) {
  return PlainQuantize(quantizer, values, n, position, tokens, low, raw);
}

void Dequantize(const Quantizer& quantizer, const int8_t* tokens,
                const uint16_t* low, size_t n, uint64_t position,
                float* values) {
  PlainDequantize(quantizer, tokens, low, n, position, values);
}

void ToRows(const int8_t* tokens, size_t run, int8_t* rows) {
  for (size_t at = 0; at < run; ++at) {
    for (int lane = 0; lane < kLanes; ++lane) {
      rows[at * kLanes + lane] = tokens[lane * run + at];
    }
  }
}

void FromRows(const int8_t* rows, size_t run, int8_t* tokens) {
  for (size_t at = 0; at < run; ++at) {
    for (int lane = 0; lane < kLanes; ++lane) {
      tokens[lane * run + at] = rows[at * kLanes + lane];
    }
  }
}

struct Neighbourhood {
  int prediction;
  int activity;
};

Neighbourhood Look(const int8_t* rows, size_t at, int lane, size_t row) {
  const auto token = [&](size_t step) -> int {
    return rows[step * kLanes + lane];
  };
  const bool has_above = row > 0 && at >= row;
  const int left = at > 0 ? token(at - 1) : 0;
  const int above = has_above ? token(at - row) : left;
  const int corner = has_above && at > row ? token(at - row - 1) : 0;
  const auto [low, high] = std::minmax(left, above);
  // A damaged stream has tokens of any size, which the vectors wrap around.
  const auto wrap = [](int x) { return static_cast<int>(uint8_t(x)); };
  const auto saturate = [](int x) { return std::clamp(x, -128, 127); };
  return {std::clamp(saturate(saturate(left + above) - corner), low, high),
          std::min(255, wrap(std::abs(left - corner)) +
                            wrap(std::abs(above - corner)))};
}

void Neighbours(const int8_t* rows, size_t first, size_t last, size_t row,
                int8_t* prediction, uint8_t* activity) {
  for (size_t at = first; at < last; ++at) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Neighbourhood n = Look(rows, at, lane, row);
      *prediction++ = static_cast<int8_t>(n.prediction);
      *activity++ = static_cast<uint8_t>(n.activity);
    }
  }
}

int ContextOf(const ContextModel& model, const Neighbourhood& n) {
  return model.ActivityClass(n.activity) * model.level_classes +
         model.LevelClass(n.prediction);
}

void Encode(const ContextModel& model, const EncodeTables& tables,
            const int8_t* rows, size_t run, size_t row, RansStream* stream) {
  uint16_t* words = stream->words_end;
  int8_t* escapes = stream->escapes_end;
  std::fill_n(stream->state, kLanes, kStateLow);
  for (size_t at = run; at-- > 0;) {
    for (int lane = kLanes; lane-- > 0;) {
      const Neighbourhood n = Look(rows, at, lane, row);
      const int8_t token = rows[at * kLanes + lane];
      const uint8_t symbol = static_cast<uint8_t>(
          (token - (model.predict ? n.prediction : 0)) ^ 0x80);
      const size_t index = ContextOf(model, n) * kSymbols + symbol;
      const uint32_t packed = tables.packed[index];
      if (packed & kEscapeBit) *--escapes = token;
      const uint32_t frequency = packed & (kProbabilityScale - 1);
      uint32_t& x = stream->state[lane];
      if (x >= frequency << (31 - kProbabilityBits)) {
        *--words = static_cast<uint16_t>(x);
        x >>= 16;
      }
      const uint32_t quotient =
          (uint64_t{x} * tables.reciprocal[index] >> 32) >>
          (packed >> kShiftShift & 31);
      x += (packed >> kBiasShift & 4095) +
           quotient * (kProbabilityScale - frequency);
    }
  }
  stream->words_begin = words;
  stream->escapes_begin = escapes;
}

bool Decode(const ContextModel& model, const DecodeTables& tables,
            const RansStream& stream, size_t run, size_t row, int8_t* rows) {
  const uint16_t* words = stream.words_begin;
  const int8_t* escapes = stream.escapes_begin;
  uint32_t state[kLanes];
  std::copy_n(stream.state, kLanes, state);
  for (size_t at = 0; at < run; ++at) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const Neighbourhood n = Look(rows, at, lane, row);
      uint32_t& x = state[lane];
      const uint32_t entry =
          tables.slot[ContextOf(model, n) * kProbabilityScale +
                      (x & (kProbabilityScale - 1))];
      x = (entry >> 8 & 4095) * (x >> kProbabilityBits) + (entry >> 20);
      if (x < kStateLow) {
        if (words == stream.words_end) return false;
        x = x << 16 | *words++;
      }
      const uint8_t symbol = static_cast<uint8_t>(entry);
      int8_t& token = rows[at * kLanes + lane];
      if (symbol == kEscape) {
        if (escapes == stream.escapes_end) return false;
        token = *escapes++;
      } else {
        token = static_cast<int8_t>((symbol ^ 0x80) +
                                    (model.predict ? n.prediction : 0));
      }
    }
  }
  return std::all_of(state, state + kLanes,
                     [](uint32_t x) { return x == kStateLow; }) &&
         words == stream.words_end && escapes == stream.escapes_end;
}

bool DecodeTwo(const ContextModel& model, const DecodeTables& tables,
               const RansStream* streams, size_t run, size_t row,
               int8_t* const* rows) {
  return Decode(model, tables, streams[0], run, row, rows[0]) &&
         Decode(model, tables, streams[1], run, row, rows[1]);
}

size_t PackGroups(const int8_t* tokens, size_t n, uint8_t* headers,
                  uint8_t* bits) {
  BitWriter out(bits);
  for (size_t at = 0; at < n; at += kGroup) {
    // What the last group lacks counts as zeros.
    uint64_t where = 0;
    std::vector<unsigned> sizes;
    std::vector<bool> signs;
    for (size_t i = at; i < std::min(n, at + kGroup); ++i) {
      if (tokens[i] == 0) continue;
      where |= uint64_t{1} << (i - at);
      sizes.push_back(std::abs(tokens[i]) - 1);
      signs.push_back(tokens[i] < 0);
    }
    if (sizes.empty()) {
      *headers++ = kAllZero;
      continue;
    }
    const unsigned largest = *std::max_element(sizes.begin(), sizes.end());
    const unsigned sum = std::accumulate(sizes.begin(), sizes.end(), 0u);
    const int low =
        ChooseLowPlanes(sum, largest, static_cast<unsigned>(sizes.size()));
    const unsigned steps = largest >> low;
    const bool has_zeros = sizes.size() < kGroup;
    const bool has_signs = std::count(signs.begin(), signs.end(), true) > 0;
    *headers++ = static_cast<uint8_t>(low | steps << kStepsShift |
                                      (has_signs ? kHasSigns : 0) |
                                      (has_zeros ? kHasZeros : 0));
    if (has_zeros) out.PutLong(where, kGroup);
    if (has_signs) {
      for (const bool sign : signs) out.Put(sign, 1);
    }
    for (int p = 0; p < low; ++p) {
      for (const unsigned size : sizes) out.Put(size >> p & 1, 1);
    }
    for (unsigned s = 0; s < steps; ++s) {
      for (const unsigned size : sizes) {
        if (size >> low >= s) out.Put(size >> low > s, 1);
      }
    }
  }
  return out.Finish();
}

bool UnpackGroups(GroupReader* reader, size_t n, int8_t* tokens) {
  BitReader& in = reader->bits;
  for (size_t at = 0; at < n; at += kGroup) {
    const uint8_t header = *reader->headers++;
    const size_t last = std::min(n, at + kGroup);
    std::fill(tokens + at, tokens + last, int8_t{0});
    const int low = header & kAllZero;
    if (low == kAllZero) continue;
    uint64_t where = ~uint64_t{0};
    if (header & kHasZeros) {
      if (!in.Has(kGroup)) return false;
      where = in.GetLong(kGroup);
    }
    const bool has_signs = (header & kHasSigns) != 0;
    std::vector<bool> signs(std::popcount(where));
    std::vector<int> sizes(signs.size());
    if (!in.Has(signs.size() * (low + has_signs))) {
      return false;
    }
    if (has_signs) {
      for (size_t i = 0; i < signs.size(); ++i) signs[i] = in.Get(1) != 0;
    }
    for (int p = 0; p < low; ++p) {
      for (int& size : sizes) size |= static_cast<int>(in.Get(1)) << p;
    }
    const int steps = header >> kStepsShift & kMaxSteps;
    for (int s = 0; s < steps; ++s) {
      for (int& size : sizes) {
        if (size >> low < s) continue;
        if (!in.Has(1)) return false;
        size += static_cast<int>(in.Get(1)) << low;
      }
    }
    for (int i = 0, k = 0; i < kGroup; ++i) {
      if ((where >> i & 1) == 0) continue;
      const int token = signs[k] ? -(sizes[k] + 1) : sizes[k] + 1;
      if (at + i < last) tokens[at + i] = static_cast<int8_t>(token);
      ++k;
    }
  }
  return true;
}

void Subtract(const int8_t* tokens, size_t n, size_t distance,
              int8_t* differences) {
  for (size_t i = 0; i < n; ++i) {
    differences[i] = static_cast<int8_t>(
        tokens[i] - (i < distance ? 0 : tokens[i - distance]));
  }
}

int8_t AccumulateLeft(int8_t before, size_t n, int8_t* tokens) {
  for (size_t i = 0; i < n; ++i) {
    tokens[i] = before = static_cast<int8_t>(tokens[i] + before);
  }
  return before;
}

void AccumulateAbove(size_t first, size_t n, size_t row, int8_t* tokens) {
  for (size_t i = std::max(first, row); i < n; ++i) {
    tokens[i] = static_cast<int8_t>(tokens[i] + tokens[i - row]);
  }
}

size_t PackLow(const int8_t* tokens, const uint16_t* low, size_t n,
               int low_bits, uint8_t* bits) {
  BitWriter out(bits);
  for (size_t at = 0; at < n; at += kGroup) {
    const size_t last = std::min(n, at + kGroup);
    for (int p = 0; p < low_bits; ++p) {
      for (size_t i = at; i < last; ++i) {
        if (tokens[i] != 0) out.Put(low[i] >> p & 1, 1);
      }
    }
  }
  return out.Finish();
}

bool UnpackLow(BitReader* in, const int8_t* tokens, size_t n, int low_bits,
               uint16_t* low) {
  std::fill(low, low + n, uint16_t{0});
  for (size_t at = 0; at < n; at += kGroup) {
    const size_t last = std::min(n, at + kGroup);
    for (int p = 0; p < low_bits; ++p) {
      for (size_t i = at; i < last; ++i) {
        if (tokens[i] == 0) continue;
        if (!in->Has(1)) return false;
        low[i] = static_cast<uint16_t>(low[i] | in->Get(1) << p);
      }
    }
  }
  return true;
}

}  // namespace

const Kernels& PlainKernels() {
  static constexpr Kernels kernels = {
      .quantize = Quantize,
      .dequantize = Dequantize,
      .to_rows = ToRows,
      .from_rows = FromRows,
      .encode = Encode,
      .decode = Decode,
      .decode_two = DecodeTwo,
      .neighbours = Neighbours,
      .pack_groups = PackGroups,
      .unpack_groups = UnpackGroups,
      .subtract = Subtract,
      .accumulate_left = AccumulateLeft,
      .accumulate_above = AccumulateAbove,
      .pack_low = PackLow,
      .unpack_low = UnpackLow,
  };
  return kernels;
}

}  // namespace caffe::codec::sz
