#ifndef CAFFE_SRC_CPU_TILE_HPP_
#define CAFFE_SRC_CPU_TILE_HPP_

#include <cstdint>

// Rows that are repeated: from (outer, inner) values to (outer, tiles, inner).
namespace caffe::cpu {

template <typename Dtype>
void TileForward(int64_t outer, int64_t tiles, int64_t inner, const Dtype* in,
                 Dtype* out);

// in_diff is the sum over all tiles.
template <typename Dtype>
void TileBackward(int64_t outer, int64_t tiles, int64_t inner,
                  const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_TILE_HPP_
