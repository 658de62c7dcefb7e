#ifndef CAFFE_SRC_COMPRESS_CHECKSUM_HPP_
#define CAFFE_SRC_COMPRESS_CHECKSUM_HPP_

#include <cstddef>
#include <cstdint>
#include <span>

namespace caffe::codec {

// XXH64 with seed 0: as fast as memory, and any change within eight bytes
// changes it for sure.
uint64_t Hash64(std::span<const uint8_t> bytes);

// What frames hold: its lower half.
inline uint32_t Checksum(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(Hash64(bytes));
}

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_CHECKSUM_HPP_
