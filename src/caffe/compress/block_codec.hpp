#ifndef CAFFE_SRC_COMPRESS_BLOCK_CODEC_HPP_
#define CAFFE_SRC_COMPRESS_BLOCK_CODEC_HPP_

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>

#include "caffe/error.hpp"
#include "compress/checksum.hpp"
#include "compress/frame.hpp"

// Frames of blocks: a tensor's values are cut into blocks of neighbours, each
// coded by itself. Blocks are what threads share, what a checksum covers, and
// what restoring some images of a batch may leave out.
//
// After the header come the number of values in a block, what the coder wants
// its decoder to know, a directory with the size, kind and checksum of every
// block, and the blocks. docs/codec_format.md has the bytes.
namespace caffe::codec {

// A coder codes single blocks and is most of a codec; BlockCodec makes a Codec
// of it. What a coder derived from this does not hide is as simple as it gets.
// On top it has, for float and double T:
//
//   static constexpr std::string_view kName, kGuarantee;
//   static constexpr uint8_t kId;
//   static constexpr bool kIsExact;
//   // What Encode writes at most.
//   template <typename T> size_t MaxCodedBytes(size_t n) const;
//   // Codes n values, the first of which is number `position` of the tensor.
//   // Returns the size, or kKeepRaw. May write kSlack bytes too many.
//   template <typename T>
//   size_t Encode(const T* values, size_t n, uint64_t position,
//                 uint8_t* scratch, uint8_t* out) const;
//   // Returns whether the bytes were those of such a block. Throws Error or
//   // returns false when not, and never writes outside values[0, n).
//   template <typename T>
//   bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* scratch,
//               T* values) const;
struct BlockCoderBase {
  static constexpr size_t kKeepRaw = std::numeric_limits<size_t>::max();
  static constexpr size_t kSlack = 64;
  static constexpr uint32_t kMaxBlockValues = 1u << 22;
  // Whether errors stay within the bound of the settings.
  static constexpr bool kIsBounded = false;

  // Small enough for a second-level cache, large enough for its eight bytes of
  // directory not to count.
  uint32_t block_values = 16 * 1024;

  // Sets up for a tensor that is to be compressed. block_values must not
  // depend on the settings.
  void Choose(const Shape& /*shape*/, const Settings& /*settings*/) {}
  // What the decoder must know besides block_values: written behind it, and
  // read and checked.
  static constexpr size_t kMetaBytes = 0;
  void Write(uint8_t*& /*to*/) const {}
  void Read(ByteReader* /*in*/) {}
  // Memory for the work on n values.
  template <typename T>
  size_t ScratchBytes(size_t /*n*/) const {
    return 0;
  }
};

// How a block is stored. The numbers are part of the format.
enum class BlockKind : uint32_t { kCoded = 1, kRaw = 2 };

struct BlockEntry {
  static constexpr int kKindShift = 30;

  BlockEntry() = default;
  BlockEntry(BlockKind kind, size_t size, uint32_t sum)
      : size_and_kind(static_cast<uint32_t>(size | static_cast<size_t>(kind)
                                                       << kKindShift)),
        checksum(sum) {}

  size_t size() const { return size_and_kind & ((1u << kKindShift) - 1); }
  BlockKind kind() const {
    return static_cast<BlockKind>(size_and_kind >> kKindShift);
  }

  uint32_t size_and_kind;
  uint32_t checksum;
};
static_assert(sizeof(BlockEntry) == 8);

template <class Coder>
class BlockCodec final : public Codec {
 public:
  std::string_view name() const override { return Coder::kName; }
  std::string_view guarantee() const override { return Coder::kGuarantee; }
  uint8_t id() const override { return Coder::kId; }
  bool KeepsNonZeros(const Settings& /*settings*/) const override {
    return Coder::kIsExact;
  }

  size_t MaxBytes(const Shape& shape, DataType type) const override {
    Coder coder;
    coder.Choose(shape, {});
    const Cut cut(coder, shape);
    // Of the last block, everything is written before its size is known.
    return DataOffset(shape, cut) + cut.values * SizeOf(type) +
           (type == DataType::kFloat32 ? RoomForBlock<float>(coder, cut)
                                       : RoomForBlock<double>(coder, cut));
  }

  size_t Compress(const ConstTensor& in, const Settings& settings,
                  Context& context, std::span<uint8_t> out) const override {
    return in.type == DataType::kFloat32
               ? CompressAs<float>(in, settings, context, out)
               : CompressAs<double>(in, settings, context, out);
  }

  size_t EstimateBytes(const ConstTensor& in, const Settings& settings,
                       Context& context) const override {
    return in.type == DataType::kFloat32
               ? EstimateAs<float>(in, settings, context)
               : EstimateAs<double>(in, settings, context);
  }

  void Decompress(std::span<const uint8_t> frame, ImageRange range,
                  Context& context, std::span<float> out) const override {
    DecompressAs(frame, range, context, out);
  }
  void Decompress(std::span<const uint8_t> frame, ImageRange range,
                  Context& context, std::span<double> out) const override {
    DecompressAs(frame, range, context, out);
  }

 private:
  // Scratch slots of the context: one for the frame, one for every thread.
  static constexpr int kFrameSlot = 0;
  static constexpr int kThreadSlot = 1;
  static constexpr uint64_t kMaxEstimatedBlocks = 8;

  // The blocks of a tensor.
  struct Cut {
    Cut(const Coder& coder, const Shape& shape)
        : values(static_cast<uint64_t>(shape.count())),
          block_values(coder.block_values),
          blocks((values + block_values - 1) / block_values) {}

    uint64_t first(uint64_t block) const { return block * block_values; }
    size_t count(uint64_t block) const {
      return std::min(block_values, values - first(block));
    }
    size_t largest() const { return std::min(block_values, values); }

    uint64_t values;
    uint64_t block_values;
    uint64_t blocks;
  };

  // Where the blocks begin, from the start of the frame.
  static size_t DataOffset(const Shape& shape, const Cut& cut) {
    return HeaderBytes(shape) + sizeof(uint32_t) + Coder::kMetaBytes +
           cut.blocks * sizeof(BlockEntry);
  }

  template <typename T>
  static size_t RoomForBlock(const Coder& coder, const Cut& cut) {
    const size_t n = cut.largest();
    const size_t room =
        std::max(coder.template MaxCodedBytes<T>(n), n * sizeof(T)) +
        Coder::kSlack;
    return RoundUp(room);
  }

  // To where the next piece of memory is aligned.
  static size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

  static int ThreadsFor(uint64_t blocks) {
    if (omp_in_parallel()) return 1;
    return static_cast<int>(
        std::clamp<uint64_t>(blocks, 1, omp_get_max_threads()));
  }

  // One thread's memory: a block of bytes or values, then the coder's own.
  template <typename T>
  struct ThreadMemory {
    ThreadMemory(const Coder& coder, const Cut& cut, size_t block_bytes,
                 int threads, Context& context)
        : block_bytes(block_bytes),
          bytes(block_bytes + coder.template ScratchBytes<T>(cut.largest())),
          context(context) {
      for (int t = 0; t < threads; ++t) block(t);
    }
    uint8_t* block(int thread) const {
      return context.Scratch<uint8_t>(kThreadSlot + thread, bytes).data();
    }
    uint8_t* scratch(int thread) const { return block(thread) + block_bytes; }

    const size_t block_bytes;
    const size_t bytes;
    Context& context;
  };

  // Writes a block and returns its size; *kind is how.
  template <typename T>
  static size_t EncodeBlock(const Coder& coder, const T* values, size_t n,
                            uint64_t position, uint8_t* scratch,
                            BlockKind* kind, uint8_t* out) {
    const size_t size = coder.Encode(values, n, position, scratch, out);
    *kind = size < n * sizeof(T) ? BlockKind::kCoded : BlockKind::kRaw;
    if (*kind == BlockKind::kCoded) return size;
    std::memcpy(out, values, n * sizeof(T));
    return n * sizeof(T);
  }

  template <typename T>
  size_t CompressAs(const ConstTensor& in, Settings settings, Context& context,
                    std::span<uint8_t> out) const {
    Coder coder;
    coder.Choose(in.shape, settings);
    const Cut cut(coder, in.shape);
    uint8_t* const payload = out.data() + HeaderBytes(in.shape);
    uint8_t* const data = out.data() + DataOffset(in.shape, cut);
    uint8_t* to = payload;
    Store(to, coder.block_values);
    coder.Write(to);
    uint8_t* const directory = to;

    const int threads = ThreadsFor(cut.blocks);
    const ThreadMemory<T> memory(coder, cut, RoomForBlock<T>(coder, cut),
                                 threads, context);
    const T* const values = static_cast<const T*>(in.data);
    uint8_t* end = data;
    // Several threads code blocks at the same time, each in its own memory;
    // as soon as the blocks before it have their places, a block gets its own.
#pragma omp parallel for ordered num_threads(threads) schedule(static, 1)
    for (uint64_t block = 0; block < cut.blocks; ++block) {
      const int thread = omp_get_thread_num();
      uint8_t* const coded = threads == 1 ? end : memory.block(thread);
      const uint64_t first = cut.first(block);
      BlockKind kind;
      const size_t size =
          EncodeBlock(coder, values + first, cut.count(block), first,
                      memory.scratch(thread), &kind, coded);
      const BlockEntry entry(kind, size,
                             settings.checksum ? Checksum({coded, size}) : 0);
      std::memcpy(directory + block * sizeof(entry), &entry, sizeof(entry));
      uint8_t* place;
#pragma omp ordered
      {
        place = end;
        end += size;
      }
      if (place != coded) std::memcpy(place, coded, size);
    }
    if constexpr (!Coder::kIsBounded) {
      settings.bound =
          Coder::kIsExact ? 0 : std::numeric_limits<double>::infinity();
    }
    return FinishFrame(Coder::kId, in, settings, end - payload, data - payload,
                       out.data());
  }

  template <typename T>
  size_t EstimateAs(const ConstTensor& in, const Settings& settings,
                    Context& context) const {
    Coder coder;
    coder.Choose(in.shape, settings);
    const Cut cut(coder, in.shape);
    const ThreadMemory<T> memory(coder, cut, RoomForBlock<T>(coder, cut), 1,
                                 context);
    const uint64_t sampled =
        std::min(cut.blocks,
                 std::clamp<uint64_t>(cut.blocks / 16, 1, kMaxEstimatedBlocks));
    double bytes = 0;
    double seen = 0;
    for (uint64_t s = 0; s < sampled; ++s) {
      const uint64_t block = (2 * s + 1) * cut.blocks / (2 * sampled);
      const uint64_t first = cut.first(block);
      const size_t n = cut.count(block);
      BlockKind kind;
      bytes += EncodeBlock(coder, static_cast<const T*>(in.data) + first, n,
                           first, memory.scratch(0), &kind, memory.block(0));
      seen += n;
    }
    const double per_value = bytes / std::max(seen, 1.0);
    return DataOffset(in.shape, cut) +
           static_cast<size_t>(per_value * cut.values);
  }

  template <typename T>
  static bool DecodeBlock(const Coder& coder, std::span<const uint8_t> bytes,
                          BlockKind kind, size_t n, uint8_t* scratch,
                          T* values) {
    if (kind == BlockKind::kCoded) {
      return coder.Decode(bytes, n, scratch, values);
    }
    if (kind != BlockKind::kRaw || bytes.size() != n * sizeof(T)) return false;
    std::memcpy(values, bytes.data(), bytes.size());
    return true;
  }

  // What of a frame's directory a range of blocks needs.
  struct Located {
    std::span<const uint8_t> data;
    std::span<BlockEntry> entries;
    std::span<uint64_t> offsets;
  };

  static Located Locate(ByteReader* in, const Cut& cut, uint64_t first,
                        uint64_t last, Context& context) {
    if (cut.blocks > in->Rest().size() / sizeof(BlockEntry)) {
      Damaged("its directory ends too early");
    }
    const auto directory = in->Take(cut.blocks * sizeof(BlockEntry));
    Located located;
    located.data = in->Rest();
    const auto memory =
        context.Scratch<uint64_t>(kFrameSlot, 2 * (last - first));
    located.offsets = memory.first(last - first);
    located.entries = {
        reinterpret_cast<BlockEntry*>(memory.data() + (last - first)),
        last - first};
    uint64_t at = 0;
    for (uint64_t block = 0; block < cut.blocks; ++block) {
      BlockEntry entry;
      std::memcpy(&entry, directory.data() + block * sizeof(entry),
                  sizeof(entry));
      if (block >= first && block < last) {
        located.offsets[block - first] = at;
        located.entries[block - first] = entry;
      }
      at += entry.size();
    }
    if (at != located.data.size()) Damaged("its blocks do not fill it");
    return located;
  }

  template <typename T>
  void DecompressAs(std::span<const uint8_t> bytes, ImageRange range,
                    Context& context, std::span<T> out) const {
    const OpenedFrame frame = OpenFrame(
        bytes, Coder::kId,
        std::is_same_v<T, float> ? DataType::kFloat32 : DataType::kFloat64);
    range = CheckRange(frame.info.shape, range, out.size());
    ByteReader in(frame.payload);
    Coder coder;
    coder.block_values = in.Get<uint32_t>();
    if (coder.block_values < 1 || coder.block_values > Coder::kMaxBlockValues) {
      Damaged("impossible blocks");
    }
    coder.Read(&in);
    const Cut cut(coder, frame.info.shape);

    // Values [from, to) of the tensor are wanted.
    const uint64_t from = range.first * frame.info.shape.image_values();
    const uint64_t to = from + out.size();
    const uint64_t first = std::min(from / cut.block_values, cut.blocks);
    const uint64_t last = out.empty() ? first : (to - 1) / cut.block_values + 1;
    const Located located = Locate(&in, cut, first, last, context);
    const int threads = ThreadsFor(last - first);
    const ThreadMemory<T> memory(coder, cut, RoundUp(cut.largest() * sizeof(T)),
                                 threads, context);

    const auto decode = [&](uint64_t block, int thread) {
      const BlockEntry& entry = located.entries[block - first];
      const auto block_bytes =
          located.data.subspan(located.offsets[block - first], entry.size());
      if (frame.info.has_checksum && Checksum(block_bytes) != entry.checksum) {
        return false;
      }
      const uint64_t begin = cut.first(block);
      const uint64_t end = begin + cut.count(block);
      const bool whole = begin >= from && end <= to;
      T* const values = whole ? out.data() + (begin - from)
                              : reinterpret_cast<T*>(memory.block(thread));
      if (!DecodeBlock(coder, block_bytes, entry.kind(), end - begin,
                       memory.scratch(thread), values)) {
        return false;
      }
      if (!whole) {
        const uint64_t part_begin = std::max(begin, from);
        const uint64_t part_end = std::min(end, to);
        std::copy(values + (part_begin - begin), values + (part_end - begin),
                  out.data() + (part_begin - from));
      }
      return true;
    };
    std::atomic<bool> good = true;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t block = first; block < last; ++block) {
      if (!good) continue;
      try {
        if (!decode(block, omp_get_thread_num())) good = false;
      } catch (const Error&) {
        good = false;
      }
    }
    if (!good) Damaged("a block of values cannot be read");
  }
};

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_BLOCK_CODEC_HPP_
