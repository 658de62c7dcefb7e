#include "caffe/compress/codec.hpp"

#include <algorithm>

#include "caffe/error.hpp"

namespace caffe::codec {

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kMaxValues = int64_t{1} << 40;

}  // namespace

size_t SizeOf(DataType type) {
  return type == DataType::kFloat32 ? sizeof(float) : sizeof(double);
}

Shape::Shape(std::span<const int64_t> extents)
    : axes(static_cast<int>(extents.size())) {
  Require(extents.size() <= kMaxAxes, "a tensor of ", extents.size(),
          " axes cannot be compressed; the most is ", kMaxAxes);
  int64_t total = 1;
  for (int i = 0; i < axes; ++i) {
    extent[i] = extents[i];
    Require(extent[i] >= 0, "a tensor cannot have the negative extent ",
            extent[i]);
    // A zero among the extents must not hide what the others come to.
    const int64_t size = std::max<int64_t>(extent[i], 1);
    Require(total <= kMaxValues / size, "a tensor of more than ", kMaxValues,
            " values cannot be compressed");
    total *= size;
  }
}

Shape::Shape(std::initializer_list<int64_t> extents)
    : Shape(std::span<const int64_t>(extents.begin(), extents.size())) {}

int64_t Shape::count() const {
  int64_t product = 1;
  for (int i = 0; i < axes; ++i) product *= extent[i];
  return product;
}

int64_t Shape::image_values() const {
  int64_t product = 1;
  for (int i = 1; i < axes; ++i) product *= extent[i];
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return axes == other.axes && std::equal(extent, extent + axes, other.extent);
}

uint8_t* Context::Bytes(int slot, size_t n) {
  if (buffers_.size() <= static_cast<size_t>(slot)) buffers_.resize(slot + 1);
  Buffer& buffer = buffers_[slot];
  if (buffer.size < n || buffer.aligned == nullptr) {
    // Twice as much as last time at least, so that growing sizes are cheap.
    buffer.size = std::max(n, 2 * buffer.size);
    buffer.storage =
        std::make_unique_for_overwrite<uint8_t[]>(buffer.size + kAlignment);
    const auto address = reinterpret_cast<uintptr_t>(buffer.storage.get());
    buffer.aligned =
        buffer.storage.get() + (kAlignment - address % kAlignment) % kAlignment;
  }
  return buffer.aligned;
}

size_t Context::bytes() const {
  size_t total = 0;
  for (const Buffer& buffer : buffers_) total += buffer.size;
  return total;
}

void Context::Release() { buffers_.clear(); }

}  // namespace caffe::codec
