#include <algorithm>
#include <cmath>
#include <cstring>

#include "compress/sz/bits.hpp"
#include "compress/sz/groups.hpp"
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

// Where in a part of that many bits a token's are.
struct Place {
  int byte;
  int shift;
};

Place PlaceOf(int i, int width) {
  if (width == 1) return {i / 8, i % 8};
  const int bytes = kGroup * width / 8;
  return {i % bytes, i / bytes * width};
}

// A group's code and bits. Returns where the bits end.
uint8_t* PackGroup(const uint8_t* tokens, int* code, uint8_t* to) {
  uint8_t all = 0;
  for (int i = 0; i < kGroup; ++i) all |= FoldToken(tokens[i]);
  *code = GroupCode(all);
  if (*code == kWholeBytes) return std::copy_n(tokens, kGroup, to);
  int shift = 0;
  for (const int width : {4, 2, 1}) {
    if ((GroupWidth(*code) & width) == 0) continue;
    const int bytes = kGroup * width / 8;
    std::fill_n(to, bytes, uint8_t{0});
    for (int i = 0; i < kGroup; ++i) {
      const int field = tokens[i] >> shift & ((1 << width) - 1);
      const Place place = PlaceOf(i, width);
      to[place.byte] |= static_cast<uint8_t>(field << place.shift);
    }
    to += bytes;
    shift += width;
  }
  return to;
}

size_t PackGroups(const int8_t* tokens, size_t n, uint8_t* headers,
                  uint8_t* bits) {
  uint8_t* to = bits;
  for (size_t at = 0; at < n; at += 2 * kGroup) {
    uint8_t pair[2 * kGroup] = {};
    std::copy_n(tokens + at, std::min<size_t>(n - at, 2 * kGroup), pair);
    int first, second;
    to = PackGroup(pair, &first, to);
    to = PackGroup(pair + kGroup, &second, to);
    *headers++ = static_cast<uint8_t>(first | second << 4);
  }
  std::fill_n(to, kBitPadding, uint8_t{0});
  return to + kBitPadding - bits;
}

size_t BytesOfGroups(const uint8_t* headers, size_t count) {
  size_t bytes = kBitPadding;
  for (size_t i = 0; i < count; ++i) {
    bytes += GroupBytes(headers[i] & 15) + GroupBytes(headers[i] >> 4);
  }
  return bytes;
}

int8_t UnpackToken(int code, const uint8_t* from, int i) {
  if (code == kWholeBytes) return static_cast<int8_t>(from[i]);
  const int whole = GroupWidth(code);
  int token = 0;
  int shift = 0;
  for (const int width : {4, 2, 1}) {
    if ((whole & width) == 0) continue;
    const Place place = PlaceOf(i, width);
    const int field = from[place.byte] >> place.shift & ((1 << width) - 1);
    token |= field << shift;
    from += kGroup * width / 8;
    shift += width;
  }
  const bool negative = code >= kSignedCode && (token >> (whole - 1) & 1) != 0;
  return static_cast<int8_t>(negative ? token - (1 << whole) : token);
}

void UnpackGroups(GroupReader* reader, size_t n, int8_t* tokens) {
  for (size_t at = 0; at < n; at += kGroup) {
    const bool first = at % (2 * kGroup) == 0;
    const int code = first ? *reader->headers & 15 : *reader->headers++ >> 4;
    for (size_t i = 0; i < std::min<size_t>(n - at, kGroup); ++i) {
      tokens[at + i] = UnpackToken(code, reader->bits, static_cast<int>(i));
    }
    reader->bits += GroupBytes(code);
  }
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
  for (size_t at = 0; at < n; at += kPlane) {
    const size_t last = std::min(n, at + kPlane);
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
  for (size_t at = 0; at < n; at += kPlane) {
    const size_t last = std::min(n, at + kPlane);
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
      .bytes_of_groups = BytesOfGroups,
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
