#ifndef CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_
#define CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_

#include <array>
#include <cstdint>

namespace caffe::codec::sz {

// For every set of kLaneCount lanes of 32 bits, as bits: where to take each
// lane from in order to move the set's lanes to the back (gather), and which
// bytes to take in order to spread 16-bit words from the front over the set's
// lanes, with zeros elsewhere (spread).
template <int kLaneCount>
struct LaneTables {
  using Row = std::array<int32_t, kLaneCount>;
  using Bytes = std::array<uint8_t, 4 * kLaneCount>;
  alignas(64) std::array<Row, 1 << kLaneCount> gather;
  alignas(64) std::array<Bytes, 1 << kLaneCount> spread;
};

template <int kLaneCount>
constexpr LaneTables<kLaneCount> MakeLaneTables() {
  LaneTables<kLaneCount> tables = {};
  for (int set = 0; set < 1 << kLaneCount; ++set) {
    int members = 0;
    for (int lane = 0; lane < kLaneCount; ++lane) members += (set >> lane) & 1;
    int seen = 0;
    tables.spread[set].fill(0x80);
    for (int lane = 0; lane < kLaneCount; ++lane) {
      if (((set >> lane) & 1) == 0) continue;
      tables.gather[set][kLaneCount - members + seen] = lane;
      tables.spread[set][4 * lane] = static_cast<uint8_t>(2 * seen);
      tables.spread[set][4 * lane + 1] = static_cast<uint8_t>(2 * seen + 1);
      ++seen;
    }
  }
  return tables;
}

template <int kLaneCount>
inline constexpr LaneTables<kLaneCount> kLaneTables =
    MakeLaneTables<kLaneCount>();

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_
