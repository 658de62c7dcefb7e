#include "cpu/tile.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

template <typename Dtype>
void TileForward(int64_t outer, int64_t tiles, int64_t inner, const Dtype* in,
                 Dtype* out) {
  ParallelFor(outer * tiles, kElementwiseGrain / std::max<int64_t>(1, inner),
              [=](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  std::memcpy(out + i * inner, in + i / tiles * inner,
                              inner * sizeof(Dtype));
                }
              });
}

template <typename Dtype>
void TileBackward(int64_t outer, int64_t tiles, int64_t inner,
                  const Dtype* out_diff, Dtype* in_diff) {
  ParallelFor(
      outer * inner, kElementwiseGrain / tiles,
      [=](int64_t begin, int64_t end) {
        // Row by row, as far as they lie in the range.
        for (int64_t first = begin; first < end;) {
          const int64_t row = first / inner;
          const int64_t count = std::min(end, (row + 1) * inner) - first;
          const Dtype* from = out_diff + row * tiles * inner + first % inner;
          Dtype* const to = in_diff + first;
          std::copy_n(from, count, to);
          for (int64_t tile = 1; tile < tiles; ++tile) {
            from += inner;
            for (int64_t i = 0; i < count; ++i) to[i] += from[i];
          }
          first += count;
        }
      });
}

#define INSTANTIATE_TILE(Dtype)                                               \
  template void TileForward(int64_t, int64_t, int64_t, const Dtype*, Dtype*); \
  template void TileBackward(int64_t, int64_t, int64_t, const Dtype*, Dtype*)

INSTANTIATE_TILE(float);
INSTANTIATE_TILE(double);

}  // namespace caffe::cpu
