#ifndef CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_
#define CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_

#include <array>
#include <cstdint>

namespace caffe::codec::sz {

// For every set of kLaneCount lanes, as bits: where to take each lane from in
// order to move the set's lanes to the back (gather), or to spread what is at
// the front over the set's lanes (spread).
template <int kLaneCount>
struct LaneTables {
  using Row = std::array<int32_t, kLaneCount>;
  alignas(64) std::array<Row, 1 << kLaneCount> gather;
  alignas(64) std::array<Row, 1 << kLaneCount> spread;
};

template <int kLaneCount>
constexpr LaneTables<kLaneCount> MakeLaneTables() {
  LaneTables<kLaneCount> tables = {};
  for (int set = 0; set < 1 << kLaneCount; ++set) {
    int members = 0;
    for (int lane = 0; lane < kLaneCount; ++lane) members += (set >> lane) & 1;
    int seen = 0;
    for (int lane = 0; lane < kLaneCount; ++lane) {
      if (((set >> lane) & 1) == 0) continue;
      tables.gather[set][kLaneCount - members + seen] = lane;
      tables.spread[set][lane] = seen++;
    }
  }
  return tables;
}

template <int kLaneCount>
inline constexpr LaneTables<kLaneCount> kLaneTables =
    MakeLaneTables<kLaneCount>();

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_LANE_TABLES_HPP_
