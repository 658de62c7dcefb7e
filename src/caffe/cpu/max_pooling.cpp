#include <cfloat>
#include <vector>

#include "cpu/engine.hpp"
#include "cpu/parallel.hpp"
#include "cpu/planes.hpp"
#include "cpu/pooling.hpp"
#include "cpu/pooling_reference.hpp"

namespace caffe::cpu {

namespace {

// Maxima of windows over one row of the input, and where they are: columns of
// the window, as numbers of the same type, so that they move through the same
// vector instructions.
template <typename Dtype>
struct RowMaxima {
  std::vector<Dtype> values;
  std::vector<Dtype> places;
};

// For windows that the row covers as a whole: [first, last). A kernel or
// stride of 0 stands for that of the axis, others for themselves.
template <int64_t kKernel, int64_t kStride, typename Dtype>
void InnerRowMaxima(const PoolingAxis& axis, int64_t first, int64_t last,
                    const Dtype* row, RowMaxima<Dtype>* maxima) {
  const int64_t kernel = kKernel == 0 ? axis.kernel : kKernel;
  const int64_t stride = kStride == 0 ? axis.stride : kStride;
  Dtype* const values = maxima->values.data();
  Dtype* const places = maxima->places.data();
#pragma omp simd
  for (int64_t i = first; i < last; ++i) {
    const Dtype* const window = row + i * stride - axis.pad;
    Dtype largest = window[0];
    Dtype place = 0;
    for (int64_t k = 1; k < kernel; ++k) {
      const bool larger = window[k] > largest;
      place = larger ? Dtype(k) : place;
      largest = larger ? window[k] : largest;
    }
    values[i] = largest;
    places[i] = place;
  }
}

template <typename Dtype>
void FindRowMaxima(const PoolingAxis& axis, const Dtype* row,
                   RowMaxima<Dtype>* maxima) {
  // Windows that begin and end inside the row.
  const int64_t first =
      std::min(axis.out, (axis.pad + axis.stride - 1) / axis.stride);
  const int64_t room = axis.in + axis.pad - axis.kernel;
  const int64_t last =
      room < 0 ? first : std::clamp(room / axis.stride + 1, first, axis.out);
  if (axis.kernel == 2 && axis.stride == 2) {
    InnerRowMaxima<2, 2>(axis, first, last, row, maxima);
  } else if (axis.kernel == 3 && axis.stride == 2) {
    InnerRowMaxima<3, 2>(axis, first, last, row, maxima);
  } else if (axis.kernel == 3 && axis.stride == 1) {
    InnerRowMaxima<3, 1>(axis, first, last, row, maxima);
  } else {
    InnerRowMaxima<0, 0>(axis, first, last, row, maxima);
  }
  for (int64_t i = 0; i < axis.out; ++i) {
    if (i == first) i = last;
    if (i >= axis.out || !axis.covers(i)) break;
    int64_t place = axis.begin(i);
    for (int64_t k = place + 1; k < axis.end(i); ++k) {
      if (row[k] > row[place]) place = k;
    }
    maxima->values[i] = row[place];
    maxima->places[i] = static_cast<Dtype>(place - axis.start(i));
  }
}

// One row of outputs from the maxima of the input rows its windows cover.
// `maxima` of row r are at r % kernel; `places` is for its own use.
template <typename Dtype, typename Position>
void CombineRows(const PoolingShape& shape, int64_t h,
                 const std::vector<RowMaxima<Dtype>>& maxima, Dtype* places,
                 Dtype* out, Position* positions) {
  const int64_t first = shape.rows.begin(h);
  for (int64_t row = first; row < shape.rows.end(h); ++row) {
    const RowMaxima<Dtype>& source = maxima[row % shape.rows.kernel];
    const Dtype* const values = source.values.data();
    const Dtype* const columns = source.places.data();
    const Dtype begin =
        static_cast<Dtype>((row - shape.rows.start(h)) * shape.columns.kernel);
    if (row == first) {
#pragma omp simd
      for (int64_t w = 0; w < shape.columns.out; ++w) {
        out[w] = values[w];
        places[w] = begin + columns[w];
      }
      continue;
    }
#pragma omp simd
    for (int64_t w = 0; w < shape.columns.out; ++w) {
      const bool larger = values[w] > out[w];
      places[w] = larger ? begin + columns[w] : places[w];
      out[w] = larger ? values[w] : out[w];
    }
  }
  for (int64_t w = 0; w < shape.columns.out; ++w) {
    positions[w] = static_cast<Position>(static_cast<int32_t>(places[w]));
  }
}

template <typename Dtype, typename Position>
void MaxPoolPlane(const PoolingShape& shape, const Dtype* in,
                  std::vector<RowMaxima<Dtype>>* maxima, Dtype* places,
                  Dtype* out, Position* positions) {
  const PoolingAxis& rows = shape.rows;
  const PoolingAxis& columns = shape.columns;
  // Windows share rows: every row's maxima are found once.
  int64_t found = 0;
  for (int64_t h = 0; h < rows.out; ++h) {
    for (int64_t r = std::max(found, rows.begin(h)); r < rows.end(h); ++r) {
      FindRowMaxima(columns, in + r * columns.in, &(*maxima)[r % rows.kernel]);
    }
    found = std::max(found, rows.end(h));
    Dtype* const to = out + h * columns.out;
    Position* const where = positions + h * columns.out;
    if (rows.covers(h)) CombineRows(shape, h, *maxima, places, to, where);
    for (int64_t w = columns.out; w-- > 0;) {
      if (rows.covers(h) && columns.covers(w)) break;
      to[w] = -FLT_MAX;
      where[w] = kNoPosition<Position>;
    }
  }
}

}  // namespace

template <typename Dtype, typename Position>
void MaxPoolingForward(const PoolingShape& shape, const Dtype* in, Dtype* out,
                       Position* positions) {
  // Places count in a Dtype, whose integers are exact so far.
  constexpr int64_t kMostPlaces = 1 << 24;
  if (kernels() == Kernels::kReference ||
      shape.rows.kernel > kMostPlaces / shape.columns.kernel) {
    return MaxPoolingForwardReference(shape, in, out, positions);
  }
  ParallelFor(shape.planes, PlaneGrain(shape.in_size()),
              [&](int64_t begin, int64_t end) {
                const RowMaxima<Dtype> empty = {
                    std::vector<Dtype>(shape.columns.out),
                    std::vector<Dtype>(shape.columns.out)};
                std::vector<RowMaxima<Dtype>> maxima(shape.rows.kernel, empty);
                std::vector<Dtype> places(shape.columns.out);
                for (int64_t plane = begin; plane < end; ++plane) {
                  MaxPoolPlane(shape, in + plane * shape.in_size(), &maxima,
                               places.data(), out + plane * shape.out_size(),
                               positions + plane * shape.out_size());
                }
              });
}

template <typename Dtype, typename Position>
void MaxPoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                        const Position* positions, Dtype* in_diff) {
  WritePlanes(
      shape.planes, shape.in_size(), in_diff, [&](int64_t plane, Dtype* to) {
        std::fill_n(to, shape.in_size(), Dtype(0));
        const Dtype* diff = out_diff + plane * shape.out_size();
        const Position* position = positions + plane * shape.out_size();
        const int64_t kernel = shape.columns.kernel;
        for (int64_t h = 0; h < shape.rows.out; ++h) {
          for (int64_t w = 0; w < shape.columns.out; ++w) {
            const int64_t place = *position++;
            const Dtype value = *diff++;
            if (place == kNoPosition<Position>) continue;
            to[(shape.rows.start(h) + place / kernel) * shape.columns.in +
               shape.columns.start(w) + place % kernel] += value;
          }
        }
      });
}

template <typename Dtype, typename Position>
void MaxPoolingIndices(const PoolingShape& shape, const Position* positions,
                       Dtype* indices) {
  ForWindows(shape, [&](int64_t h, int64_t w, int64_t output, int64_t) {
    const int64_t place = positions[output];
    const int64_t row = shape.rows.start(h) + place / shape.columns.kernel;
    const int64_t column =
        shape.columns.start(w) + place % shape.columns.kernel;
    indices[output] = place == kNoPosition<Position>
                          ? Dtype(-1)
                          : static_cast<Dtype>(row * shape.columns.in + column);
  });
}

#define INSTANTIATE_MAX_POOLING(Dtype, Position)                             \
  template void MaxPoolingForward(const PoolingShape&, const Dtype*, Dtype*, \
                                  Position*);                                \
  template void MaxPoolingBackward(const PoolingShape&, const Dtype*,        \
                                   const Position*, Dtype*);                 \
  template void MaxPoolingIndices(const PoolingShape&, const Position*, Dtype*)

INSTANTIATE_MAX_POOLING(float, uint8_t);
INSTANTIATE_MAX_POOLING(float, int32_t);
INSTANTIATE_MAX_POOLING(double, uint8_t);
INSTANTIATE_MAX_POOLING(double, int32_t);

}  // namespace caffe::cpu
