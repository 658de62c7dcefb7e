// Transposition between the order of the values and rows of lanes. Included
// once for every SIMD target.

#if defined(CAFFE_SZ_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_ROWS_INL_HPP_
#undef CAFFE_SZ_ROWS_INL_HPP_
#else
#define CAFFE_SZ_ROWS_INL_HPP_
#endif

#include "compress/sz/kernels.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kTile = 16;

// Transposes 16 x 16 bytes; rows of the source are from_stride apart, those of
// the target to_stride. Each of four rounds pairs row i with row i + 8.
HWY_INLINE void TransposeTile(const int8_t* from, size_t from_stride,
                              int8_t* to, size_t to_stride) {
  const hn::FixedTag<int8_t, 16> d;
  using V = hn::Vec<decltype(d)>;
  V a[kTile], b[kTile];
  for (size_t i = 0; i < kTile; ++i)
    a[i] = hn::LoadU(d, from + i * from_stride);
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < kTile / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kTile / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kTile / 2]);
    }
    for (size_t i = 0; i < kTile; ++i) a[i] = b[i];
  }
  for (size_t i = 0; i < kTile; ++i) hn::StoreU(a[i], d, to + i * to_stride);
}

// rows x columns bytes into columns x rows.
HWY_INLINE void Transpose(const int8_t* from, size_t rows, size_t columns,
                          int8_t* to) {
  const size_t whole = columns - columns % kTile;
  for (size_t r = 0; r + kTile <= rows; r += kTile) {
    for (size_t c = 0; c < whole; c += kTile) {
      TransposeTile(from + r * columns + c, columns, to + c * rows + r, rows);
    }
  }
  const size_t whole_rows = rows - rows % kTile;
  for (size_t r = 0; r < rows; ++r) {
    const size_t first = r < whole_rows ? whole : 0;
    for (size_t c = first; c < columns; ++c) {
      to[c * rows + r] = from[r * columns + c];
    }
  }
}

void ToRows(const int8_t* tokens, size_t run, int8_t* rows) {
  Transpose(tokens, kLanes, run, rows);
}

void FromRows(const int8_t* rows, size_t run, int8_t* tokens) {
  Transpose(rows, run, kLanes, tokens);
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
