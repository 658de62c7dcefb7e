#include "compress/frame.hpp"

#include <algorithm>
#include <cmath>

#include "caffe/error.hpp"
#include "compress/checksum.hpp"

namespace caffe::codec {

namespace {

constexpr uint8_t kMagic[4] = {'C', 'F', 'Z', 'T'};
constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasChecksum = 1;
constexpr int64_t kMaxValues = int64_t{1} << 40;

// Where the checksum is: the last number of the header.
constexpr size_t kChecksumBytes = 4;

struct Header {
  FrameInfo info;
  size_t header_bytes = 0;
  size_t covered = 0;
  uint32_t checksum = 0;
};

Header ReadHeader(std::span<const uint8_t> frame) {
  Header header;
  ByteReader in(frame);
  const auto magic = in.Take(sizeof(kMagic));
  if (!std::equal(magic.begin(), magic.end(), kMagic)) {
    Fail("not a compressed tensor: it does not start with CFZT");
  }
  const uint8_t version = in.Get<uint8_t>();
  Require(version == kVersion, "the compressed tensor has format version ",
          int{version}, "; this program reads version ", int{kVersion});
  header.info.codec = in.Get<uint8_t>();
  const uint8_t type_and_axes = in.Get<uint8_t>();
  const int axes = type_and_axes & 7;
  if (axes > Shape::kMaxAxes || type_and_axes >> 3 > 1) {
    Damaged("unknown type or shape");
  }
  header.info.type = static_cast<DataType>(type_and_axes >> 3);
  const uint8_t flags = in.Get<uint8_t>();
  if ((flags & ~kHasChecksum) != 0) Damaged("unknown flags");
  header.info.has_checksum = (flags & kHasChecksum) != 0;
  header.info.bound = in.Get<double>();
  if (!(header.info.bound >= 0)) Damaged("impossible bound");
  const auto payload = in.Get<uint64_t>();
  header.covered = in.Get<uint32_t>();
  int64_t extents[Shape::kMaxAxes] = {};
  int64_t count = 1;
  for (int i = 0; i < axes; ++i) {
    const auto extent = in.Get<uint64_t>();
    if (extent > kMaxValues) Damaged("impossible shape");
    extents[i] = static_cast<int64_t>(extent);
    const int64_t size = std::max<int64_t>(extents[i], 1);
    if (count > kMaxValues / size) Damaged("impossible shape");
    count *= size;
  }
  header.info.shape =
      Shape(std::span<const int64_t>(extents, static_cast<size_t>(axes)));
  header.checksum = in.Get<uint32_t>();
  header.header_bytes = frame.size() - in.Rest().size();
  if (payload != in.Rest().size() || header.covered > payload) {
    Damaged("its size is not what its header says");
  }
  // So that a checksum cannot be turned off by one wrong bit.
  if (!header.info.has_checksum &&
      (header.covered != 0 || header.checksum != 0)) {
    Damaged("it has a checksum that it says it has not");
  }
  header.info.frame_bytes = frame.size();
  return header;
}

}  // namespace

size_t HeaderBytes(const Shape& shape) { return 32 + 8 * shape.axes; }

size_t FinishFrame(uint8_t codec, const ConstTensor& tensor,
                   const Settings& settings, size_t payload, size_t covered,
                   uint8_t* frame) {
  uint8_t* to = frame;
  for (const uint8_t byte : kMagic) Store(to, byte);
  Store(to, kVersion);
  Store(to, codec);
  Store(to, static_cast<uint8_t>(static_cast<int>(tensor.type) << 3 |
                                 tensor.shape.axes));
  Store(to, settings.checksum ? kHasChecksum : uint8_t{0});
  // What is no bound keeps all values as they are.
  Store(to, settings.bound >= 0 ? settings.bound : 0.0);
  Store(to, static_cast<uint64_t>(payload));
  Store(to, static_cast<uint32_t>(settings.checksum ? covered : 0));
  for (int i = 0; i < tensor.shape.axes; ++i) {
    Store(to, static_cast<uint64_t>(tensor.shape.extent[i]));
  }
  const size_t header = to - frame + kChecksumBytes;
  if (settings.checksum) {
    // Two parts, because the checksum lies between them.
    const uint64_t both[2] = {Hash64({frame, header - kChecksumBytes}),
                              Hash64({frame + header, covered})};
    Store(to, Checksum({reinterpret_cast<const uint8_t*>(both), 16}));
  } else {
    Store(to, uint32_t{0});
  }
  return header + payload;
}

OpenedFrame OpenFrame(std::span<const uint8_t> frame, uint8_t codec,
                      DataType type) {
  const Header header = ReadHeader(frame);
  const auto payload = frame.subspan(header.header_bytes);
  if (header.info.has_checksum) {
    const uint64_t both[2] = {
        Hash64(frame.first(header.header_bytes - kChecksumBytes)),
        Hash64(payload.first(header.covered))};
    if (Checksum({reinterpret_cast<const uint8_t*>(both), 16}) !=
        header.checksum) {
      Damaged("its checksum does not match");
    }
  }
  Require(header.info.codec == codec, "the compressed tensor is of codec ",
          int{header.info.codec}, ", not ", int{codec});
  Require(header.info.type == type, "the compressed tensor holds ",
          header.info.type == DataType::kFloat32 ? "float" : "double",
          " values and was asked for the other kind");
  return {header.info, payload};
}

ImageRange CheckRange(const Shape& shape, ImageRange range, size_t values) {
  const int64_t images = shape.images();
  if (range.count < 0) range.count = images - range.first;
  Require(range.first >= 0 && range.count >= 0 &&
              range.first <= images - range.count,
          "images ", range.first, " to ", range.first + range.count,
          " are not all in a compressed tensor of ", images);
  const auto wanted = static_cast<uint64_t>(range.count) *
                      static_cast<uint64_t>(shape.image_values());
  Require(values == wanted, "room for ", values, " values was given where ",
          wanted, " are to be decompressed");
  return range;
}

void Damaged(const std::string& why) {
  Fail("the compressed tensor is damaged: ", why);
}

std::span<const uint8_t> ByteReader::Take(size_t n) {
  if (n > bytes_.size()) Damaged("it ends too early");
  const auto taken = bytes_.first(n);
  bytes_ = bytes_.subspan(n);
  return taken;
}

FrameInfo Inspect(std::span<const uint8_t> frame) {
  return ReadHeader(frame).info;
}

}  // namespace caffe::codec
