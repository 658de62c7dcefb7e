#include <vector>

#include "cpu/engine.hpp"
#include "cpu/parallel.hpp"
#include "cpu/planes.hpp"
#include "cpu/pooling.hpp"
#include "cpu/pooling_reference.hpp"

namespace caffe::cpu {

namespace {

// sums[c] = values of column c in the rows that window row h covers.
template <typename Dtype>
void SumRows(const PoolingShape& shape, int64_t h, const Dtype* in,
             std::vector<Dtype>* sums) {
  Dtype* const sum = sums->data();
  std::fill(sums->begin(), sums->end(), Dtype(0));
  for (int64_t r = shape.rows.begin(h); r < shape.rows.end(h); ++r) {
    const Dtype* const row = in + r * shape.columns.in;
#pragma omp simd
    for (int64_t c = 0; c < shape.columns.in; ++c) sum[c] += row[c];
  }
}

template <typename Dtype>
void AveragePoolPlane(const PoolingShape& shape, const Dtype* in,
                      std::vector<Dtype>* sums, Dtype* out) {
  const PoolingAxis& rows = shape.rows;
  const PoolingAxis& columns = shape.columns;
  for (int64_t h = 0; h < rows.out; ++h) {
    SumRows(shape, h, in, sums);
    for (int64_t w = 0; w < columns.out; ++w) {
      Dtype sum = 0;
      for (int64_t c = columns.begin(w); c < columns.end(w); ++c) {
        sum += (*sums)[c];
      }
      out[h * columns.out + w] = rows.covers(h) && columns.covers(w)
                                     ? sum / (rows.size(h) * columns.size(w))
                                     : Dtype(0);
    }
  }
}

template <typename Dtype>
void AveragePoolPlaneBackward(const PoolingShape& shape, const Dtype* out_diff,
                              Dtype* in_diff) {
  const PoolingAxis& rows = shape.rows;
  const PoolingAxis& columns = shape.columns;
  std::fill_n(in_diff, shape.in_size(), Dtype(0));
  std::vector<Dtype> shares(columns.in);
  for (int64_t h = 0; h < rows.out; ++h) {
    if (!rows.covers(h)) break;
    // What the windows of this row give to each column, the same in all rows.
    std::fill(shares.begin(), shares.end(), Dtype(0));
    for (int64_t w = 0; w < columns.out && columns.covers(w); ++w) {
      const Dtype share =
          out_diff[h * columns.out + w] / (rows.size(h) * columns.size(w));
      for (int64_t c = columns.begin(w); c < columns.end(w); ++c) {
        shares[c] += share;
      }
    }
    const Dtype* const share = shares.data();
    for (int64_t r = rows.begin(h); r < rows.end(h); ++r) {
      Dtype* const row = in_diff + r * columns.in;
#pragma omp simd
      for (int64_t c = 0; c < columns.in; ++c) row[c] += share[c];
    }
  }
}

}  // namespace

template <typename Dtype>
void AveragePoolingForward(const PoolingShape& shape, const Dtype* in,
                           Dtype* out) {
  if (kernels() == Kernels::kReference) {
    return AveragePoolingForwardReference(shape, in, out);
  }
  ParallelFor(shape.planes, PlaneGrain(shape.in_size()),
              [&](int64_t begin, int64_t end) {
                std::vector<Dtype> sums(shape.columns.in);
                for (int64_t plane = begin; plane < end; ++plane) {
                  AveragePoolPlane(shape, in + plane * shape.in_size(), &sums,
                                   out + plane * shape.out_size());
                }
              });
}

template <typename Dtype>
void AveragePoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                            Dtype* in_diff) {
  if (kernels() == Kernels::kReference) {
    return AveragePoolingBackwardReference(shape, out_diff, in_diff);
  }
  WritePlanes(shape.planes, shape.in_size(), in_diff,
              [&](int64_t plane, Dtype* to) {
                AveragePoolPlaneBackward(
                    shape, out_diff + plane * shape.out_size(), to);
              });
}

#define INSTANTIATE_AVERAGE_POOLING(Dtype)                                \
  template void AveragePoolingForward(const PoolingShape&, const Dtype*,  \
                                      Dtype*);                            \
  template void AveragePoolingBackward(const PoolingShape&, const Dtype*, \
                                       Dtype*)

INSTANTIATE_AVERAGE_POOLING(float);
INSTANTIATE_AVERAGE_POOLING(double);

}  // namespace caffe::cpu
