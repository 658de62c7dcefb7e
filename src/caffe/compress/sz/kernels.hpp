#ifndef CAFFE_SRC_COMPRESS_SZ_KERNELS_HPP_
#define CAFFE_SRC_COMPRESS_SZ_KERNELS_HPP_

#include <cstddef>
#include <cstdint>

#include "caffe/compress/codec.hpp"
#include "compress/sz/bits.hpp"

// The stages of the sz codec on one block of values, for the best SIMD target
// of the machine. Every target gives the same bytes: the arithmetic is the
// same operation by operation, and nothing here may be compiled with fused
// multiply-add.
namespace caffe::codec::sz {

// A block is this many runs of neighbouring values; the entropy coder works on
// one value of each run at a time.
constexpr int kLanes = 32;

// Tokens lie in +-kMaxToken; what is larger is kept raw.
constexpr int kMaxToken = 63;
constexpr int kMaxLowBits = 14;

// Values that FAST packs together.
constexpr int kGroup = 16;
// Values of a plane of low bits.
constexpr int kPlane = 64;
// What readers of a bit stream may touch behind its last bit.
constexpr size_t kBitPadding = 8;

// How values become codes. The code of x is x / (2 * bound), rounded; its
// token is what is left of it without the low bits.
struct Quantizer {
  double bound = 0;
  Rounding rounding = Rounding::kNearest;
  uint32_t seed = 0;
  int low_bits = 0;
};

// From its neighbours in the run every token gets a prediction (the median of
// left, above, and left + above - corner) and a context: how much the
// neighbours differ, and how large the prediction is.
struct ContextModel {
  // Whether tokens are coded as differences from their predictions.
  bool predict = false;
  int activity_classes = 1;
  int level_classes = 1;
  // A class is the number of thresholds exceeded. All activities from
  // kMaxActivity up are in one, and so are levels beyond kMinLevel, kMaxLevel.
  uint8_t activity_threshold[16] = {};
  int8_t level_threshold[16] = {};

  int contexts() const { return activity_classes * level_classes; }
  int ActivityClass(int activity) const {
    int exceeded = 0;
    for (int i = 0; i + 1 < activity_classes; ++i) {
      exceeded += activity > activity_threshold[i];
    }
    return exceeded;
  }
  int LevelClass(int level) const {
    int exceeded = 0;
    for (int i = 0; i + 1 < level_classes; ++i) {
      exceeded += level > level_threshold[i];
    }
    return exceeded;
  }
};

// So many can be looked up with one vector, and two.
constexpr int kMaxActivity = 15;
constexpr int kMinLevel = -16;
constexpr int kMaxLevel = 15;

constexpr int kMaxContexts = 16;
constexpr int kSymbols = 256;
// Stands for a token that its context's table leaves out.
constexpr int kEscape = 0;
constexpr int kProbabilityBits = 10;
constexpr uint32_t kProbabilityScale = 1u << kProbabilityBits;
// States stay in [kStateLow, kStateLow << 16).
constexpr uint32_t kStateLow = 1u << 15;

// What the encoder looks up for a symbol in a context, at
// [context * kSymbols + symbol].
struct EncodeTables {
  // 2^(31 + ceil(log2 frequency)) / frequency, rounded up.
  uint32_t reciprocal[kMaxContexts * kSymbols];
  // From the lowest bit: frequency (10 bits), bias (12), shift (5); the top
  // bit marks what has to be escaped.
  uint32_t packed[kMaxContexts * kSymbols];
};
constexpr int kBiasShift = 10;
constexpr int kShiftShift = 22;
constexpr uint32_t kEscapeBit = 1u << 31;

// What the decoder looks up for a slot in a context: symbol (8 bits),
// frequency (12), slot - start of the symbol (12).
struct DecodeTables {
  uint32_t slot[kMaxContexts * kProbabilityScale];
};

// Where the groups of tokens that FAST packs are read from.
struct GroupReader {
  const uint8_t* headers;
  const uint8_t* bits;
};

// Where the entropy coder's output is. The encoder fills words and escapes
// from the end of their buffers backwards.
struct RansStream {
  uint32_t state[kLanes] = {};
  uint16_t* words_begin = nullptr;
  uint16_t* words_end = nullptr;
  int8_t* escapes_begin = nullptr;
  int8_t* escapes_end = nullptr;
};

// One function pointer a stage; n values of a block that starts at value
// `position` of the tensor.
struct Kernels {
  // Writes n tokens, and the low bits when there are any; returns how many
  // positions (in `raw`) hold values that must be kept as they are, where
  // tokens are 0.
  size_t (*quantize)(const Quantizer& quantizer, const float* values, size_t n,
                     uint64_t position, int8_t* tokens, uint16_t* low,
                     uint32_t* raw);
  void (*dequantize)(const Quantizer& quantizer, const int8_t* tokens,
                     const uint16_t* low, size_t n, uint64_t position,
                     float* values);

  // Between the order of the values, where lane l has [l * run, l * run + run),
  // and rows of one token from every lane.
  void (*to_rows)(const int8_t* tokens, size_t run, int8_t* rows);
  void (*from_rows)(const int8_t* rows, size_t run, int8_t* tokens);

  // Codes rows of tokens; `row` is how far back a token's upper neighbour is,
  // or 0. Words need room for kLanes * run, escapes as well.
  void (*encode)(const ContextModel& model, const EncodeTables& tables,
                 const int8_t* rows, size_t run, size_t row,
                 RansStream* stream);
  // Returns whether the stream was one that encode made.
  bool (*decode)(const ContextModel& model, const DecodeTables& tables,
                 const RansStream& stream, size_t run, size_t row,
                 int8_t* rows);
  // The same for two streams of as many rows, in less time than one after the
  // other.
  bool (*decode_two)(const ContextModel& model, const DecodeTables& tables,
                     const RansStream* streams, size_t run, size_t row,
                     int8_t* const* rows);

  // Predictions and contexts of rows [first, last), for choosing a model.
  void (*neighbours)(const int8_t* rows, size_t first, size_t last, size_t row,
                     int8_t* prediction, uint8_t* activity);

  // FAST: packs groups of tokens and returns the bytes of bits written. Headers
  // take one byte for every two groups, bits at most one for each of their
  // values and kBitPadding; behind both, 16 bytes may get overwritten.
  size_t (*pack_groups)(const int8_t* tokens, size_t n, uint8_t* headers,
                        uint8_t* bits);
  // How many bytes of bits belong to headers.
  size_t (*bytes_of_groups)(const uint8_t* headers, size_t count);
  // The next n tokens, pairs of groups unless they are the last. There must be
  // as many bits as bytes_of_groups says, and room for whole pairs.
  void (*unpack_groups)(GroupReader* reader, size_t n, int8_t* tokens);
  // FAST: tokens as differences from those `distance` back. Bytes wrap around.
  void (*subtract)(const int8_t* tokens, size_t n, size_t distance,
                   int8_t* differences);
  // And back: n tokens, the one before the first of which was `before`. Returns
  // the last one.
  int8_t (*accumulate_left)(int8_t before, size_t n, int8_t* tokens);
  // Those of a block from first to n; the ones before have been done.
  void (*accumulate_above)(size_t first, size_t n, size_t row, int8_t* tokens);

  // The low bits of all values whose token is not 0, kPlane values at a time.
  size_t (*pack_low)(const int8_t* tokens, const uint16_t* low, size_t n,
                     int low_bits, uint8_t* bits);
  // The next n of them, whole planes unless they are the last. Returns whether
  // the bits were enough.
  bool (*unpack_low)(BitReader* reader, const int8_t* tokens, size_t n,
                     int low_bits, uint16_t* low);
};

// Those of the best target this machine supports.
const Kernels& BestKernels();
// Written for reading, one value at a time; the others are compared with them.
const Kernels& PlainKernels();

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_KERNELS_HPP_
