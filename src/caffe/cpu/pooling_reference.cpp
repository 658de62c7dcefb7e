#include "cpu/pooling_reference.hpp"

#include <cfloat>

namespace caffe::cpu {

template <typename Dtype, typename Position>
void MaxPoolingForwardReference(const PoolingShape& shape, const Dtype* in,
                                Dtype* out, Position* positions) {
  ForWindows(shape, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
    out[output] = -FLT_MAX;
    positions[output] = kNoPosition<Position>;
    ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
      const Dtype value = in[plane + row * shape.columns.in + column];
      if (positions[output] != kNoPosition<Position> && !(value > out[output]))
        return;
      out[output] = value;
      positions[output] = static_cast<Position>(
          (row - shape.rows.start(h)) * shape.columns.kernel + column -
          shape.columns.start(w));
    });
  });
}

template <typename Dtype>
void AveragePoolingForwardReference(const PoolingShape& shape, const Dtype* in,
                                    Dtype* out) {
  ForWindows(shape, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
    double sum = 0;
    ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
      sum += in[plane + row * shape.columns.in + column];
    });
    out[output] = shape.rows.covers(h) && shape.columns.covers(w)
                      ? static_cast<Dtype>(
                            sum / (shape.rows.size(h) * shape.columns.size(w)))
                      : Dtype(0);
  });
}

template <typename Dtype>
void AveragePoolingBackwardReference(const PoolingShape& shape,
                                     const Dtype* out_diff, Dtype* in_diff) {
  std::fill_n(in_diff, shape.planes * shape.in_size(), Dtype(0));
  ForWindows(shape, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
    ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
      in_diff[plane + row * shape.columns.in + column] +=
          out_diff[output] / (shape.rows.size(h) * shape.columns.size(w));
    });
  });
}

#define INSTANTIATE_POOLING_REFERENCE(Dtype)                                  \
  template void MaxPoolingForwardReference(const PoolingShape&, const Dtype*, \
                                           Dtype*, uint8_t*);                 \
  template void MaxPoolingForwardReference(const PoolingShape&, const Dtype*, \
                                           Dtype*, int32_t*);                 \
  template void AveragePoolingForwardReference(const PoolingShape&,           \
                                               const Dtype*, Dtype*);         \
  template void AveragePoolingBackwardReference(const PoolingShape&,          \
                                                const Dtype*, Dtype*)

INSTANTIATE_POOLING_REFERENCE(float);
INSTANTIATE_POOLING_REFERENCE(double);

}  // namespace caffe::cpu
