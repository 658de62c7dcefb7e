#include "compress/sz/block.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "compress/sz/plain_quantize.hpp"

namespace caffe::codec::sz {

namespace {

// Values of a run: long enough that what every lane costs does not count,
// short enough that a block and its scratch stay in the second-level cache.
constexpr uint32_t kRun = 1024;
constexpr uint32_t kLongRun = 2048;
constexpr uint32_t kShortRun = 512;
constexpr uint64_t kSmallTensor = 64 * 1024;
// Rows a run should have, so that most values have one above them.
constexpr uint32_t kRowsPerRun = 8;

// What scratch pointers are aligned to.
constexpr size_t kAlignment = 64;
// Vectors read and write this much beyond what they need.
constexpr size_t kSlack = 64;

// Lengths of the parts of a coded block, in the order they follow.
struct Parts {
  uint32_t first = 0;   // DENSE: words; FAST: bytes of bits
  uint32_t second = 0;  // DENSE: escapes
  uint32_t raws = 0;
};

void Append(uint8_t*& to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  to += bytes;
}

size_t RunOf(size_t n) { return (n + kLanes - 1) / kLanes; }

bool Has(Differences differences, Differences which) {
  return (static_cast<int>(differences) & static_cast<int>(which)) != 0;
}

// Of groups of n tokens, two to a byte.
size_t GroupHeaders(size_t n) { return (n + 2 * kGroup - 1) / (2 * kGroup); }

}  // namespace

Geometry ChooseGeometry(const Shape& shape) {
  Geometry geometry;
  geometry.values = static_cast<uint64_t>(shape.count());
  int last = shape.axes - 1;
  while (last > 0 && shape.extent[last] == 1) --last;
  const uint64_t row = last > 0 ? shape.extent[last] : 0;
  geometry.run = geometry.values < kSmallTensor ? kShortRun : kRun;
  if (geometry.values >= kSmallTensor && row * kRowsPerRun > kRun) {
    geometry.run =
        static_cast<uint32_t>(std::min<uint64_t>(row * kRowsPerRun, kLongRun));
  }
  const size_t longest =
      RunOf(std::min(geometry.block_values(), geometry.values));
  if (row * 2 <= longest) geometry.row = static_cast<uint32_t>(row);
  return geometry;
}

BlockScratch::BlockScratch(std::span<uint8_t> memory,
                           const Geometry& geometry) {
  const size_t n = geometry.block_values();
  uint8_t* at = memory.data();
  const auto take = [&](auto*& pointer, size_t bytes) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(at);
    at += (bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
  };
  take(tokens, n);
  take(rows, n);
  take(low, n * sizeof(uint16_t));
  take(raw, n * sizeof(uint32_t));
  take(words, n * sizeof(uint16_t));
  take(escapes, n);
  take(headers, GroupHeaders(n));
  take(bits, n);
  take(low_bits, n * kMaxLowBits / 8);
  take(values, n * sizeof(double));
}

size_t BlockScratch::Bytes(const Geometry& geometry) {
  constexpr size_t kPerValue = 1 + 1 + 2 + 4 + 2 + 1 + 1 + 1 + 2 + 8;
  const size_t bytes =
      geometry.block_values() * kPerValue + 10 * (kSlack + kAlignment);
  // Another one may follow.
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
size_t QuantizeValues(const Kernels& kernels, const Quantizer& quantizer,
                      const T* values, size_t n, uint64_t position,
                      const BlockScratch& scratch) {
  if constexpr (std::is_same_v<T, float>) {
    return kernels.quantize(quantizer, values, n, position, scratch.tokens,
                            scratch.low, scratch.raw);
  } else {
    return PlainQuantize(quantizer, values, n, position, scratch.tokens,
                         scratch.low, scratch.raw);
  }
}

namespace {

bool AllZero(const int8_t* tokens, size_t n) {
  return tokens[0] == 0 && std::memcmp(tokens, tokens + 1, n - 1) == 0;
}

template <typename T>
size_t StoreRaw(const T* values, size_t n, BlockMode* mode, uint8_t* out) {
  *mode = BlockMode::kRaw;
  std::memcpy(out, values, n * sizeof(T));
  return n * sizeof(T);
}

}  // namespace

const int8_t* Subtracted(const Kernels& kernels, Differences differences,
                         size_t n, size_t row, const BlockScratch& scratch) {
  const int8_t* tokens = scratch.tokens;
  if (Has(differences, Differences::kAbove)) {
    kernels.subtract(tokens, n, row, scratch.rows);
    tokens = scratch.rows;
  }
  if (Has(differences, Differences::kLeft)) {
    kernels.subtract(tokens, n, 1, scratch.escapes);
    tokens = scratch.escapes;
  }
  return tokens;
}

template <typename T>
size_t EncodeBlock(const Kernels& kernels, const BlockCoder& coder,
                   const T* values, uint64_t block, const BlockScratch& scratch,
                   BlockMode* mode, uint8_t* out) {
  const uint64_t position = coder.geometry.first(block);
  const size_t n = coder.geometry.count(block);
  values += position;
  const size_t raws =
      QuantizeValues(kernels, coder.quantizer, values, n, position, scratch);
  if (raws == 0 && AllZero(scratch.tokens, n)) {
    *mode = BlockMode::kZero;
    return 0;
  }
  const size_t raw_bytes = raws * (sizeof(uint32_t) + sizeof(T));
  if (raw_bytes >= n * sizeof(T)) return StoreRaw(values, n, mode, out);
  const int low_bits = coder.quantizer.low_bits;
  const size_t low_bytes = low_bits > 0
                               ? kernels.pack_low(scratch.tokens, scratch.low,
                                                  n, low_bits, scratch.low_bits)
                               : 0;

  Parts parts;
  parts.raws = static_cast<uint32_t>(raws);
  RansStream stream;
  size_t coded = 0;
  if (coder.level == Level::kDense) {
    const size_t run = RunOf(n);
    std::memset(scratch.tokens + n, 0, run * kLanes - n);
    kernels.to_rows(scratch.tokens, run, scratch.rows);
    // Vectors of words are stored whole, which needs room in front.
    stream.words_end = scratch.words + kSlack / sizeof(uint16_t) + run * kLanes;
    stream.escapes_end = scratch.escapes + run * kLanes;
    kernels.encode(coder.context, *coder.encode_tables, scratch.rows, run,
                   coder.geometry.row, &stream);
    parts.first = static_cast<uint32_t>(stream.words_end - stream.words_begin);
    parts.second =
        static_cast<uint32_t>(stream.escapes_end - stream.escapes_begin);
    coded =
        sizeof(stream.state) + parts.first * sizeof(uint16_t) + parts.second;
  } else {
    const int8_t* const tokens =
        Subtracted(kernels, coder.differences, n, coder.geometry.row, scratch);
    parts.first = static_cast<uint32_t>(
        kernels.pack_groups(tokens, n, scratch.headers, scratch.bits));
    coded = GroupHeaders(n) + parts.first;
  }
  const size_t total = sizeof(Parts) + coded + raw_bytes + low_bytes;
  if (total >= n * sizeof(T)) return StoreRaw(values, n, mode, out);

  *mode = BlockMode::kCoded;
  uint8_t* to = out;
  Append(to, &parts, sizeof(parts));
  if (coder.level == Level::kDense) {
    Append(to, stream.state, sizeof(stream.state));
    Append(to, stream.words_begin, parts.first * sizeof(uint16_t));
    Append(to, stream.escapes_begin, parts.second);
  } else {
    Append(to, scratch.headers, GroupHeaders(n));
    Append(to, scratch.bits, parts.first);
  }
  Append(to, scratch.raw, raws * sizeof(uint32_t));
  for (size_t i = 0; i < raws; ++i) {
    Append(to, &values[scratch.raw[i]], sizeof(T));
  }
  Append(to, scratch.low_bits, low_bytes);
  return to - out;
}

namespace {

// The parts of a coded block.
struct CodedBlock {
  Parts parts;
  // FAST.
  std::span<const uint8_t> headers;
  std::span<const uint8_t> bits;
  // DENSE; words and escapes are in scratch memory.
  RansStream stream;
  std::span<const uint8_t> positions;
  std::span<const uint8_t> raws;
  std::span<const uint8_t> low;
};

// Throws Error or returns false when the bytes cannot be those of a block.
bool ReadBlock(const Kernels& kernels, const BlockCoder& coder,
               std::span<const uint8_t> bytes, size_t n, size_t value_bytes,
               const BlockScratch& scratch, CodedBlock* block) {
  ByteReader in(bytes);
  const Parts parts = block->parts = in.Get<Parts>();
  if (parts.raws > n) return false;
  if (coder.level == Level::kDense) {
    const size_t most = RunOf(n) * kLanes;
    if (parts.first > most || parts.second > most) return false;
    RansStream& stream = block->stream;
    std::memcpy(stream.state, in.Take(sizeof(stream.state)).data(),
                sizeof(stream.state));
    // Words are copied to where they are aligned and may be read beyond.
    const auto words = in.Take(parts.first * sizeof(uint16_t));
    const auto escapes = in.Take(parts.second);
    std::memcpy(scratch.words, words.data(), words.size());
    std::memcpy(scratch.escapes, escapes.data(), escapes.size());
    stream.words_begin = scratch.words;
    stream.words_end = scratch.words + parts.first;
    stream.escapes_begin = scratch.escapes;
    stream.escapes_end = scratch.escapes + parts.second;
  } else {
    block->headers = in.Take(GroupHeaders(n));
    block->bits = in.Take(parts.first);
    if (parts.second != 0 ||
        kernels.bytes_of_groups(block->headers.data(), block->headers.size()) !=
            parts.first) {
      return false;
    }
  }
  block->positions = in.Take(parts.raws * sizeof(uint32_t));
  block->raws = in.Take(parts.raws * value_bytes);
  block->low = in.Rest();
  return coder.quantizer.low_bits > 0 ? block->low.size() >= kBitPadding
                                      : block->low.empty();
}

// Tokens that are unpacked before their values are written, which memory then
// takes its time for while the next ones are unpacked.
constexpr size_t kStrip = 512;
static_assert(kStrip % (2 * kGroup) == 0 && kStrip % kPlane == 0);

// Restores the tokens of FAST strip by strip.
class StripReader {
 public:
  StripReader(const Kernels& kernels, const BlockCoder& coder,
              const CodedBlock& block, int8_t* tokens)
      : kernels_(kernels),
        coder_(coder),
        tokens_(tokens),
        reader_{block.headers.data(), block.bits.data()} {}

  // Tokens [first, last), which follow those read before.
  void Read(size_t first, size_t last) {
    kernels_.unpack_groups(&reader_, last - first, tokens_ + first);
    if (Has(coder_.differences, Differences::kLeft)) {
      left_ = kernels_.accumulate_left(left_, last - first, tokens_ + first);
    }
    if (Has(coder_.differences, Differences::kAbove)) {
      kernels_.accumulate_above(first, last, coder_.geometry.row, tokens_);
    }
  }

 private:
  const Kernels& kernels_;
  const BlockCoder& coder_;
  int8_t* const tokens_;
  GroupReader reader_;
  int8_t left_ = 0;
};

// Writes the values of a block whose tokens are in scratch memory (DENSE) or
// still packed (FAST).
template <typename T>
bool RestoreValues(const Kernels& kernels, const BlockCoder& coder,
                   const CodedBlock& block, size_t n, uint64_t position,
                   const BlockScratch& scratch, T* values) {
  const Quantizer& quantizer = coder.quantizer;
  const bool fast = coder.level == Level::kFast;
  const bool has_low = quantizer.low_bits > 0;
  int8_t* const tokens = scratch.tokens;
  StripReader strips(kernels, coder, block, tokens);
  BitReader low_reader(block.low.data(), block.low.size());
  for (size_t first = 0; first < n; first += kStrip) {
    const size_t count = std::min(kStrip, n - first);
    if (fast) strips.Read(first, first + count);
    uint16_t* const low = scratch.low + first;
    if (has_low && !kernels.unpack_low(&low_reader, tokens + first, count,
                                       quantizer.low_bits, low)) {
      return false;
    }
    if constexpr (std::is_same_v<T, float>) {
      kernels.dequantize(quantizer, tokens + first, low, count,
                         position + first, values + first);
    } else {
      PlainDequantize(quantizer, tokens + first, low, count, position + first,
                      values + first);
    }
  }
  if (has_low && !low_reader.AtEnd()) return false;
  for (size_t i = 0; i < block.parts.raws; ++i) {
    uint32_t at;
    std::memcpy(&at, block.positions.data() + i * sizeof(at), sizeof(at));
    if (at >= n) return false;
    std::memcpy(&values[at], block.raws.data() + i * sizeof(T), sizeof(T));
  }
  return true;
}

// Restores coded blocks, all of the same size.
template <typename T>
bool DecodeCoded(const Kernels& kernels, const BlockCoder& coder,
                 std::span<const StoredBlock> blocks,
                 const BlockScratch* scratch, T* const* values) {
  const Geometry& geometry = coder.geometry;
  const size_t n = geometry.count(blocks[0].number);
  const size_t run = RunOf(n);
  CodedBlock coded[2];
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!ReadBlock(kernels, coder, blocks[i].bytes, n, sizeof(T), scratch[i],
                   &coded[i])) {
      return false;
    }
  }
  if (coder.level == Level::kDense) {
    const RansStream streams[2] = {coded[0].stream, coded[1].stream};
    int8_t* const rows[2] = {scratch[0].rows, scratch[blocks.size() - 1].rows};
    const bool good =
        blocks.size() == 2
            ? kernels.decode_two(coder.context, *coder.decode_tables, streams,
                                 run, geometry.row, rows)
            : kernels.decode(coder.context, *coder.decode_tables, streams[0],
                             run, geometry.row, rows[0]);
    if (!good) return false;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (coder.level == Level::kDense) {
      kernels.from_rows(scratch[i].rows, run, scratch[i].tokens);
    }
    if (!RestoreValues(kernels, coder, coded[i], n,
                       geometry.first(blocks[i].number), scratch[i],
                       values[i])) {
      return false;
    }
  }
  return true;
}

template <typename T>
bool DecodeBlock(const Kernels& kernels, const BlockCoder& coder,
                 const StoredBlock& block, const BlockScratch& scratch,
                 T* values) {
  const size_t n = coder.geometry.count(block.number);
  switch (block.mode) {
    case BlockMode::kZero:
      std::fill_n(values, n, T(0));
      return block.bytes.empty();
    case BlockMode::kRaw:
      if (block.bytes.size() != n * sizeof(T)) return false;
      std::memcpy(values, block.bytes.data(), block.bytes.size());
      return true;
    case BlockMode::kCoded:
      return DecodeCoded(kernels, coder, {&block, 1}, &scratch, &values);
  }
  return false;
}

}  // namespace

template <typename T>
bool DecodeBlocks(const Kernels& kernels, const BlockCoder& coder,
                  std::span<const StoredBlock> blocks,
                  const BlockScratch* scratch, T* const* values) {
  const auto count = [&](const StoredBlock& block) {
    return coder.geometry.count(block.number);
  };
  if (blocks.size() == 2 && blocks[0].mode == BlockMode::kCoded &&
      blocks[1].mode == BlockMode::kCoded &&
      count(blocks[0]) == count(blocks[1])) {
    return DecodeCoded(kernels, coder, blocks, scratch, values);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!DecodeBlock(kernels, coder, blocks[i], scratch[i], values[i])) {
      return false;
    }
  }
  return true;
}

#define INSTANTIATE_BLOCK(T)                                                 \
  template size_t QuantizeValues(const Kernels&, const Quantizer&, const T*, \
                                 size_t, uint64_t, const BlockScratch&);     \
  template size_t EncodeBlock(const Kernels&, const BlockCoder&, const T*,   \
                              uint64_t, const BlockScratch&, BlockMode*,     \
                              uint8_t*);                                     \
  template bool DecodeBlocks(const Kernels&, const BlockCoder&,              \
                             std::span<const StoredBlock>,                   \
                             const BlockScratch*, T* const*)

INSTANTIATE_BLOCK(float);
INSTANTIATE_BLOCK(double);

}  // namespace caffe::codec::sz
