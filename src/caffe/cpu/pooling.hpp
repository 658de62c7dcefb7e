#ifndef CAFFE_SRC_CPU_POOLING_HPP_
#define CAFFE_SRC_CPU_POOLING_HPP_

#include <algorithm>
#include <cstdint>
#include <limits>

// Pooling: every output is made of the inputs that a window covers. Windows
// are `stride` apart; the first begins `pad` before the input. What they cover
// beyond the input does not count for a maximum and counts as zeros for an
// average, but no further than `pad`. Where nothing at all is covered (strides
// may be larger than windows), a maximum is the lowest float, an average 0, and
// there is no gradient.
namespace caffe::cpu {

// One axis of an image.
struct PoolingAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = 0;

  // Where window i begins and ends; it may begin before the input.
  int64_t start(int64_t i) const { return i * stride - pad; }
  // The inputs it covers: [begin(i), end(i)), none when those are the wrong way
  // round.
  int64_t begin(int64_t i) const { return std::max<int64_t>(start(i), 0); }
  int64_t end(int64_t i) const { return std::min(start(i) + kernel, in); }
  bool covers(int64_t i) const { return begin(i) < end(i); }
  // How many inputs and zeros an average takes.
  int64_t size(int64_t i) const {
    return std::min(start(i) + kernel, in + pad) - start(i);
  }
};

// Inputs are `planes` images of (rows.in, columns.in) values.
struct PoolingShape {
  int64_t planes = 0;
  PoolingAxis rows;
  PoolingAxis columns;

  int64_t in_size() const { return rows.in * columns.in; }
  int64_t out_size() const { return rows.out * columns.out; }
};

// The place of a maximum in its window, counted row by row, as Position; this
// stands for none. A Position of one byte is enough for windows of less than
// 255 values.
template <typename Position>
constexpr Position kNoPosition = std::numeric_limits<Position>::max();

// Of equal values, the first in the window is the maximum.
template <typename Dtype, typename Position>
void MaxPoolingForward(const PoolingShape& shape, const Dtype* in, Dtype* out,
                       Position* positions);

template <typename Dtype, typename Position>
void MaxPoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                        const Position* positions, Dtype* in_diff);

// The places of the maxima in their planes, or -1.
template <typename Dtype, typename Position>
void MaxPoolingIndices(const PoolingShape& shape, const Position* positions,
                       Dtype* indices);

template <typename Dtype>
void AveragePoolingForward(const PoolingShape& shape, const Dtype* in,
                           Dtype* out);

template <typename Dtype>
void AveragePoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                            Dtype* in_diff);

// Takes one input of every window, with a probability in proportion to its
// value. `choices` holds random numbers in [0, 1] on entry, and the places of
// the chosen inputs in their planes, or -1, on return.
template <typename Dtype>
void StochasticPoolingForward(const PoolingShape& shape, const Dtype* in,
                              Dtype* out, Dtype* choices);

template <typename Dtype>
void StochasticPoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                               const Dtype* choices, Dtype* in_diff);

// The mean of what StochasticPoolingForward would give.
template <typename Dtype>
void ExpectedPooling(const PoolingShape& shape, const Dtype* in, Dtype* out);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_POOLING_HPP_
