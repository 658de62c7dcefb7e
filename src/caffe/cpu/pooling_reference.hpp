#ifndef CAFFE_SRC_CPU_POOLING_REFERENCE_HPP_
#define CAFFE_SRC_CPU_POOLING_REFERENCE_HPP_

#include "cpu/pooling.hpp"

// pooling.hpp by its definitions, window by window.
namespace caffe::cpu {

// Calls body(h, w, output, plane) for every window: its row and column, the
// index of its output, and that of the first input of its plane.
template <typename Body>
void ForWindows(const PoolingShape& shape, const Body& body) {
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t h = 0; h < shape.rows.out; ++h) {
      for (int64_t w = 0; w < shape.columns.out; ++w) {
        body(h, w, plane * shape.out_size() + h * shape.columns.out + w,
             plane * shape.in_size());
      }
    }
  }
}

// Calls body(row, column) for every input that window (h, w) covers.
template <typename Body>
void ForWindow(const PoolingShape& shape, int64_t h, int64_t w,
               const Body& body) {
  for (int64_t row = shape.rows.begin(h); row < shape.rows.end(h); ++row) {
    for (int64_t column = shape.columns.begin(w); column < shape.columns.end(w);
         ++column) {
      body(row, column);
    }
  }
}

template <typename Dtype, typename Position>
void MaxPoolingForwardReference(const PoolingShape& shape, const Dtype* in,
                                Dtype* out, Position* positions);

template <typename Dtype>
void AveragePoolingForwardReference(const PoolingShape& shape, const Dtype* in,
                                    Dtype* out);

template <typename Dtype>
void AveragePoolingBackwardReference(const PoolingShape& shape,
                                     const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_POOLING_REFERENCE_HPP_
