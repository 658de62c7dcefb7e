#ifndef CAFFE_TEST_PLAIN_FRAME_HPP_
#define CAFFE_TEST_PLAIN_FRAME_HPP_

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "caffe/error.hpp"

// What all codecs' frames share, read as docs/codec_format.md tells it and with
// nothing of the library, for tests that compare both. Throws Error for what
// the page does not allow.
namespace caffe::codec {

// Bytes that are read from the front. Owns nothing.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T Get() {
    T value;
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const uint8_t> Take(size_t n) {
    Require(n <= bytes_.size(), "the frame is too short");
    const auto taken = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return taken;
  }
  size_t left() const { return bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
};

// XXH64 with seed 0, from its specification.
inline uint64_t Xxh64(std::span<const uint8_t> bytes) {
  constexpr uint64_t kP1 = 11400714785074694791u;
  constexpr uint64_t kP2 = 14029467366897019727u;
  constexpr uint64_t kP3 = 1609587929392839161u;
  constexpr uint64_t kP4 = 9650029242287828579u;
  constexpr uint64_t kP5 = 2870177450012600261u;
  const auto rotate = [](uint64_t x, int r) { return x << r | x >> (64 - r); };
  const auto round = [&](uint64_t a, uint64_t lane) {
    return rotate(a + lane * kP2, 31) * kP1;
  };
  const uint64_t size = bytes.size();
  Bytes in(bytes);
  uint64_t a = kP5;
  if (size >= 32) {
    uint64_t v[4] = {kP1 + kP2, kP2, 0, 0 - kP1};
    while (in.left() >= 32) {
      for (uint64_t& lane : v) lane = round(lane, in.Get<uint64_t>());
    }
    a = rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18);
    for (const uint64_t lane : v) a = (a ^ round(0, lane)) * kP1 + kP4;
  }
  a += size;
  while (in.left() >= 8) {
    a = rotate(a ^ round(0, in.Get<uint64_t>()), 27) * kP1 + kP4;
  }
  if (in.left() >= 4) {
    a = rotate(a ^ (in.Get<uint32_t>() * kP1), 23) * kP2 + kP3;
  }
  while (in.left() > 0) a = rotate(a ^ (in.Get<uint8_t>() * kP5), 11) * kP1;
  a = (a ^ a >> 33) * kP2;
  a = (a ^ a >> 29) * kP3;
  return a ^ a >> 32;
}

inline uint32_t Checksum(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(Xxh64(bytes));
}

// A frame's header; its payload stays where it is.
struct PlainFrame {
  int codec = 0;
  bool is_double = false;
  bool has_checksums = false;
  double bound = 0;
  // So many bytes of the payload are in the header's checksum.
  uint32_t covered = 0;
  uint64_t count = 1;
  std::span<const uint8_t> payload;
};

inline PlainFrame ReadPlainFrame(std::span<const uint8_t> bytes) {
  Bytes in(bytes);
  PlainFrame frame;
  Require(std::memcmp(in.Take(4).data(), "CFZT", 4) == 0, "no frame");
  Require(in.Get<uint8_t>() == 1, "not version 1");
  frame.codec = in.Get<uint8_t>();
  const int axes_and_type = in.Get<uint8_t>();
  const int axes = axes_and_type & 7;
  Require(axes <= 6 && axes_and_type >> 3 <= 1, "wrong axes or type");
  frame.is_double = axes_and_type >> 3 == 1;
  const int flags = in.Get<uint8_t>();
  Require(flags <= 1, "unknown flags");
  frame.has_checksums = flags == 1;
  frame.bound = in.Get<double>();
  Require(frame.bound >= 0, "wrong bound");
  const auto payload = in.Get<uint64_t>();
  frame.covered = in.Get<uint32_t>();
  uint64_t product = 1;
  for (int i = 0; i < axes; ++i) {
    const auto extent = in.Get<uint64_t>();
    frame.count *= extent;
    if (extent == 0) continue;
    Require(extent <= (uint64_t{1} << 40) / product, "too many values");
    product *= extent;
  }
  const auto before_checksum = bytes.first(bytes.size() - in.left());
  const auto checksum = in.Get<uint32_t>();
  Require(payload == in.left(), "wrong size");
  frame.payload = in.Take(payload);
  if (frame.has_checksums) {
    const uint64_t hashes[2] = {
        Xxh64(before_checksum),
        Xxh64(Bytes(frame.payload).Take(frame.covered))};
    Require(
        checksum == Checksum({reinterpret_cast<const uint8_t*>(hashes), 16}),
        "wrong checksum of the header");
  } else {
    Require(frame.covered == 0 && checksum == 0, "checksum without the flag");
  }
  return frame;
}

}  // namespace caffe::codec

#endif  // CAFFE_TEST_PLAIN_FRAME_HPP_
