#ifndef CAFFE_SRC_COMPRESS_SZ_BLOCK_HPP_
#define CAFFE_SRC_COMPRESS_SZ_BLOCK_HPP_

#include <span>

#include "compress/sz/model.hpp"

namespace caffe::codec::sz {

// How a block of values is stored. The numbers are part of the format.
enum class BlockMode : uint32_t { kZero = 0, kCoded = 1, kRaw = 2 };

// Which differences FAST stores. The numbers are part of the format.
enum class Differences : uint8_t {
  kNone = 0,
  kLeft = 1,
  kAbove = 2,
  kBoth = 3
};

// How the values of a tensor are cut into blocks: kLanes * run neighbouring
// values each, fewer in the last one.
struct Geometry {
  uint32_t run = 1;
  // How far back the upper neighbour of a value is; 0 when out of reach.
  uint32_t row = 0;
  uint64_t values = 0;

  uint64_t block_values() const { return uint64_t{run} * kLanes; }
  uint64_t blocks() const {
    return (values + block_values() - 1) / block_values();
  }
  uint64_t first(uint64_t block) const { return block * block_values(); }
  size_t count(uint64_t block) const {
    return std::min(block_values(), values - first(block));
  }
};

Geometry ChooseGeometry(const Shape& shape);

// What the blocks of a frame have in common.
struct BlockCoder {
  Level level = Level::kDense;
  Quantizer quantizer;
  Geometry geometry;
  // FAST: from which neighbours' tokens theirs are subtracted.
  Differences differences = Differences::kNone;
  // DENSE.
  ContextModel context;
  const EncodeTables* encode_tables = nullptr;
  const DecodeTables* decode_tables = nullptr;
};

// Memory that one thread needs for one block.
struct BlockScratch {
  explicit BlockScratch(std::span<uint8_t> memory, const Geometry& geometry);
  static size_t Bytes(const Geometry& geometry);

  int8_t* tokens;
  int8_t* rows;
  uint16_t* low;
  uint32_t* raw;
  uint16_t* words;
  int8_t* escapes;
  uint8_t* headers;
  uint8_t* bits;
  uint8_t* low_bits;
  // One block of values of any type.
  uint8_t* values;
};

template <typename T>
size_t QuantizeValues(const Kernels& kernels, const Quantizer& quantizer,
                      const T* values, size_t n, uint64_t position,
                      const BlockScratch& scratch);

// The differences of scratch.tokens, in scratch memory.
const int8_t* Subtracted(const Kernels& kernels, Differences differences,
                         size_t n, size_t row, const BlockScratch& scratch);

// What a block takes at most.
template <typename T>
size_t MaxBlockBytes(const Geometry& geometry) {
  return geometry.block_values() * sizeof(T);
}

// Writes block `block` of `values` and returns its size.
template <typename T>
size_t EncodeBlock(const Kernels& kernels, const BlockCoder& coder,
                   const T* values, uint64_t block, const BlockScratch& scratch,
                   BlockMode* mode, uint8_t* out);

// A block as it is in a frame.
struct StoredBlock {
  std::span<const uint8_t> bytes;
  BlockMode mode;
  uint64_t number;
};

// Restores one block, or two in less time than one after the other, into
// geometry.count(number) values each, with a scratch for each. Returns whether
// the bytes were those of blocks, or throws Error.
template <typename T>
bool DecodeBlocks(const Kernels& kernels, const BlockCoder& coder,
                  std::span<const StoredBlock> blocks,
                  const BlockScratch* scratch, T* const* values);

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_BLOCK_HPP_
