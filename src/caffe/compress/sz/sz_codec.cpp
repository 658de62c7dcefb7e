#include <algorithm>
#include <atomic>
#include <bit>

#include "caffe/error.hpp"
#include "compress/checksum.hpp"
#include "compress/codecs.hpp"
#include "compress/frame.hpp"
#include "compress/sz/for_blocks.hpp"
#include "compress/sz/plan.hpp"

namespace caffe::codec {

namespace {

using namespace sz;

// Meta data before the model: see WriteMeta.
constexpr size_t kFixedMetaBytes = 28;
constexpr size_t kDirectoryEntryBytes = 8;
// Of a directory entry's size, the upper bits are the mode.
constexpr uint32_t kModeShift = 30;
constexpr uint32_t kSizeMask = (1u << kModeShift) - 1;
constexpr uint32_t kMaxRun = 1u << 16;

struct DirectoryEntry {
  uint32_t size_and_mode;
  uint32_t checksum;

  size_t size() const { return size_and_mode & kSizeMask; }
  BlockMode mode() const {
    return static_cast<BlockMode>(size_and_mode >> kModeShift);
  }
};
static_assert(sizeof(DirectoryEntry) == kDirectoryEntryBytes);

template <typename T>
size_t CompressAs(uint8_t id, const ConstTensor& in, const Settings& settings,
                  Context& context, std::span<uint8_t> out) {
  const Kernels& kernels = BestKernels();
  Plan plan = MakePlan<T>(kernels, in, settings, context);
  BlockCoder& coder = plan.coder;
  const Geometry& geometry = coder.geometry;
  const uint64_t blocks = geometry.blocks();

  uint8_t* const payload = out.data() + HeaderBytes(in.shape);
  uint8_t* to = payload;
  Store(to, static_cast<uint8_t>(coder.level));
  Store(to, static_cast<uint8_t>(coder.quantizer.rounding));
  Store(to, static_cast<uint8_t>(coder.quantizer.low_bits));
  Store(to, static_cast<uint8_t>(coder.differences));
  Store(to, coder.quantizer.seed);
  Store(to, geometry.run);
  Store(to, geometry.row);
  Store(to, static_cast<uint64_t>(blocks));
  uint8_t* model_bytes = to;
  to += sizeof(uint32_t);
  auto& tables = context.Scratch<EncodeTables>(kFrameSlot, 1)[0];
  if (coder.level == Level::kDense && blocks > 0) {
    const size_t size = WriteModel(plan.model, to);
    Store(model_bytes, static_cast<uint32_t>(size));
    to += size;
    MakeTables(plan.model, &tables);
    coder.encode_tables = &tables;
  } else {
    Store(model_bytes, uint32_t{0});
  }
  uint8_t* const directory = to;
  uint8_t* const first_block = directory + blocks * kDirectoryEntryBytes;

  // Every thread writes its blocks one after the other from where its first
  // one would start at the worst; what lies between is closed up afterwards.
  const int threads = ThreadsFor(blocks);
  const size_t scratch_bytes = BlockScratch::Bytes(geometry);
  for (int t = 0; t < threads; ++t) {
    context.Scratch<uint8_t>(kThreadSlot + t, scratch_bytes);
  }
  const size_t worst = MaxBlockBytes<T>(geometry);
  std::vector<size_t> written(threads);
  const T* const values = static_cast<const T*>(in.data);
  ForBlocks(blocks, threads, [&](uint64_t begin, uint64_t end, int thread) {
    const BlockScratch scratch(
        context.Scratch<uint8_t>(kThreadSlot + thread, scratch_bytes),
        geometry);
    uint8_t* block_to = first_block + begin * worst;
    uint8_t* entry_to = directory + begin * kDirectoryEntryBytes;
    for (uint64_t block = begin; block < end; ++block) {
      BlockMode mode;
      const size_t size =
          EncodeBlock(kernels, coder, values, block, scratch, &mode, block_to);
      Store(entry_to, static_cast<uint32_t>(size | static_cast<uint32_t>(mode)
                                                       << kModeShift));
      Store(entry_to, settings.checksum ? Checksum({block_to, size}) : 0u);
      block_to += size;
    }
    written[thread] = block_to - (first_block + begin * worst);
  });
  uint8_t* end = first_block;
  for (int t = 0; t < threads; ++t) {
    const uint8_t* const from = first_block + blocks * t / threads * worst;
    if (from != end) std::memmove(end, from, written[t]);
    end += written[t];
  }
  return FinishFrame(id, in, settings, end - payload, first_block - payload,
                     out.data());
}

// A frame's meta data, checked against its shape.
struct Contents {
  BlockCoder coder;
  Model model;
  std::span<const uint8_t> directory;
  std::span<const uint8_t> data;

  DirectoryEntry entry(uint64_t block) const {
    DirectoryEntry entry;
    std::memcpy(&entry, directory.data() + block * kDirectoryEntryBytes,
                sizeof(entry));
    return entry;
  }
};

Contents ReadContents(const OpenedFrame& frame) {
  Contents contents;
  BlockCoder& coder = contents.coder;
  ByteReader in(frame.payload);
  const auto level = in.Get<uint8_t>();
  const auto rounding = in.Get<uint8_t>();
  const auto low_bits = in.Get<uint8_t>();
  const auto differences = in.Get<uint8_t>();
  if (level > 1 || rounding > 1 || low_bits > kMaxLowBits ||
      differences > (level == 0 ? 3 : 0)) {
    Damaged("unknown settings");
  }
  coder.level = static_cast<Level>(level);
  coder.quantizer.rounding = static_cast<Rounding>(rounding);
  coder.quantizer.low_bits = low_bits;
  coder.quantizer.bound = frame.info.bound;
  coder.differences = static_cast<Differences>(differences);
  coder.quantizer.seed = in.Get<uint32_t>();
  Geometry& geometry = coder.geometry;
  geometry.run = in.Get<uint32_t>();
  geometry.row = in.Get<uint32_t>();
  geometry.values = static_cast<uint64_t>(frame.info.shape.count());
  const auto blocks = in.Get<uint64_t>();
  if (geometry.run < 1 || geometry.run > kMaxRun ||
      geometry.row >= geometry.block_values() ||
      (differences >= 2 && geometry.row == 0) || blocks != geometry.blocks()) {
    Damaged("impossible blocks");
  }
  const auto model_bytes = in.Get<uint32_t>();
  ByteReader model(in.Take(model_bytes));
  if (coder.level == Level::kDense && blocks > 0) {
    ReadModel(&model, &contents.model);
    coder.context = contents.model.context;
  } else if (model_bytes > 0) {
    Damaged("it has a model that nobody needs");
  }
  if (blocks > in.Rest().size() / kDirectoryEntryBytes) {
    Damaged("its directory ends too early");
  }
  contents.directory = in.Take(blocks * kDirectoryEntryBytes);
  contents.data = in.Rest();
  return contents;
}

template <typename T>
void DecompressAs(uint8_t id, std::span<const uint8_t> bytes, ImageRange range,
                  Context& context, std::span<T> out) {
  const OpenedFrame frame = OpenFrame(
      bytes, id,
      std::is_same_v<T, float> ? DataType::kFloat32 : DataType::kFloat64);
  range = CheckRange(frame.info.shape, range, out.size());
  Contents contents = ReadContents(frame);
  BlockCoder& coder = contents.coder;
  const Geometry& geometry = coder.geometry;
  if (out.empty()) return;

  // Values [from, to) of the tensor are wanted.
  const uint64_t from = range.first * frame.info.shape.image_values();
  const uint64_t to = from + out.size();
  const uint64_t first = from / geometry.block_values();
  const uint64_t last = (to - 1) / geometry.block_values() + 1;
  std::vector<uint64_t> offset(last - first + 1);
  uint64_t at = 0;
  for (uint64_t block = 0; block < geometry.blocks(); ++block) {
    if (block >= first && block <= last) offset[block - first] = at;
    at += contents.entry(block).size();
  }
  if (last == geometry.blocks()) offset[last - first] = at;
  if (at != contents.data.size()) Damaged("its blocks do not fill it");

  const Kernels& kernels = BestKernels();
  if (coder.level == Level::kDense) {
    auto& tables = context.Scratch<DecodeTables>(kFrameSlot, 1)[0];
    MakeTables(contents.model, &tables);
    coder.decode_tables = &tables;
  }
  const int threads = ThreadsFor(last - first);
  const size_t scratch_bytes = BlockScratch::Bytes(geometry);
  for (int t = 0; t < threads; ++t) {
    context.Scratch<uint8_t>(kThreadSlot + t, 2 * scratch_bytes);
  }
  std::atomic<bool> good = true;
  // Where a block's values go: straight to where they are wanted, or, when only
  // a part of them is, to scratch memory first.
  const auto target = [&](uint64_t block, const BlockScratch& scratch) {
    const uint64_t begin = geometry.first(block);
    const bool whole = begin >= from && begin + geometry.count(block) <= to;
    return whole ? out.data() + (begin - from)
                 : reinterpret_cast<T*>(scratch.values);
  };
  const auto copy_part = [&](uint64_t block, const T* values) {
    const uint64_t begin = geometry.first(block);
    const uint64_t part_begin = std::max(begin, from);
    const uint64_t part_end = std::min(begin + geometry.count(block), to);
    std::copy(values + (part_begin - begin), values + (part_end - begin),
              out.data() + (part_begin - from));
  };
  const auto decode = [&](uint64_t block, size_t count,
                          const BlockScratch* scratch) {
    StoredBlock stored[2];
    T* values[2];
    for (size_t i = 0; i < count; ++i) {
      const DirectoryEntry entry = contents.entry(block + i);
      stored[i] = {
          contents.data.subspan(offset[block + i - first], entry.size()),
          entry.mode(), block + i};
      if (frame.info.has_checksum &&
          Checksum(stored[i].bytes) != entry.checksum) {
        return false;
      }
      values[i] = target(block + i, scratch[i]);
    }
    if (!DecodeBlocks(kernels, coder, {stored, count}, scratch, values)) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      if (values[i] == reinterpret_cast<T*>(scratch[i].values)) {
        copy_part(block + i, values[i]);
      }
    }
    return true;
  };
  ForBlocks(last - first, threads, [&](uint64_t b, uint64_t e, int thread) {
    const auto memory =
        context.Scratch<uint8_t>(kThreadSlot + thread, 2 * scratch_bytes);
    const BlockScratch scratch[2] = {
        BlockScratch(memory.first(scratch_bytes), geometry),
        BlockScratch(memory.last(scratch_bytes), geometry)};
    for (uint64_t block = first + b; block < first + e && good; block += 2) {
      try {
        const size_t count = std::min<uint64_t>(2, first + e - block);
        if (!decode(block, count, scratch)) good = false;
      } catch (const Error&) {
        good = false;
      }
    }
  });
  if (!good) Damaged("a block of values cannot be read");
}

class SzCodec : public Codec {
 public:
  std::string_view name() const override { return "sz"; }
  std::string_view guarantee() const override {
    return "every value within the bound; zeros, infinities and NaN exact";
  }
  uint8_t id() const override { return 1; }
  // Dither is never a whole number of steps.
  bool KeepsNonZeros(const Settings& settings) const override {
    return settings.rounding == Rounding::kDither;
  }

  size_t MaxBytes(const Shape& shape, DataType type) const override {
    const Geometry geometry = ChooseGeometry(shape);
    return HeaderBytes(shape) + kFixedMetaBytes + kMaxModelBytes +
           geometry.blocks() *
               (kDirectoryEntryBytes + geometry.block_values() * SizeOf(type));
  }

  size_t Compress(const ConstTensor& in, const Settings& settings,
                  Context& context, std::span<uint8_t> out) const override {
    return in.type == DataType::kFloat32
               ? CompressAs<float>(id(), in, settings, context, out)
               : CompressAs<double>(id(), in, settings, context, out);
  }

  size_t EstimateBytes(const ConstTensor& in, const Settings& settings,
                       Context& context) const override {
    const Kernels& kernels = BestKernels();
    const double bits =
        in.type == DataType::kFloat32
            ? MakePlan<float>(kernels, in, settings, context).bits
            : MakePlan<double>(kernels, in, settings, context).bits;
    const Geometry geometry = ChooseGeometry(in.shape);
    return HeaderBytes(in.shape) + kFixedMetaBytes +
           geometry.blocks() * (kDirectoryEntryBytes + 140) +
           static_cast<size_t>(bits / 8 * geometry.values);
  }

  void Decompress(std::span<const uint8_t> frame, ImageRange range,
                  Context& context, std::span<float> out) const override {
    DecompressAs(id(), frame, range, context, out);
  }
  void Decompress(std::span<const uint8_t> frame, ImageRange range,
                  Context& context, std::span<double> out) const override {
    DecompressAs(id(), frame, range, context, out);
  }
};

}  // namespace

const Codec& SzCodecInstance() {
  static const SzCodec codec;
  return codec;
}

}  // namespace caffe::codec
