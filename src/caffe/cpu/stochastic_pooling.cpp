#include "cpu/parallel.hpp"
#include "cpu/pooling.hpp"
#include "cpu/pooling_reference.hpp"

namespace caffe::cpu {

namespace {

// Calls body as ForWindows does, with the planes shared among threads.
template <typename Body>
void ForWindowsOnThreads(const PoolingShape& shape, const Body& body) {
  ParallelFor(shape.planes, 1, [&](int64_t begin, int64_t end) {
    PoolingShape part = shape;
    part.planes = end - begin;
    ForWindows(part, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
      body(h, w, begin * shape.out_size() + output,
           begin * shape.in_size() + plane);
    });
  });
}

}  // namespace

template <typename Dtype>
void StochasticPoolingForward(const PoolingShape& shape, const Dtype* in,
                              Dtype* out, Dtype* choices) {
  ForWindowsOnThreads(
      shape, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
        Dtype total = 0;
        ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
          total += in[plane + row * shape.columns.in + column];
        });
        // The first input that lifts the sum to the threshold; the last one if
        // rounding, or values below zero, kept the sum under it.
        const Dtype threshold = choices[output] * total;
        Dtype sum = 0;
        bool chosen = false;
        out[output] = 0;
        choices[output] = -1;
        ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
          if (chosen) return;
          const int64_t index = row * shape.columns.in + column;
          sum += in[plane + index];
          out[output] = in[plane + index];
          choices[output] = static_cast<Dtype>(index);
          chosen = sum >= threshold;
        });
      });
}

template <typename Dtype>
void StochasticPoolingBackward(const PoolingShape& shape, const Dtype* out_diff,
                               const Dtype* choices, Dtype* in_diff) {
  ParallelFor(shape.planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      Dtype* const to = in_diff + plane * shape.in_size();
      std::fill_n(to, shape.in_size(), Dtype(0));
      const int64_t first = plane * shape.out_size();
      for (int64_t i = first; i < first + shape.out_size(); ++i) {
        if (choices[i] >= 0)
          to[static_cast<int64_t>(choices[i])] += out_diff[i];
      }
    }
  });
}

template <typename Dtype>
void ExpectedPooling(const PoolingShape& shape, const Dtype* in, Dtype* out) {
  ForWindowsOnThreads(
      shape, [&](int64_t h, int64_t w, int64_t output, int64_t plane) {
        Dtype sum = 0;
        Dtype squares = 0;
        ForWindow(shape, h, w, [&](int64_t row, int64_t column) {
          const Dtype value = in[plane + row * shape.columns.in + column];
          sum += value;
          squares += value * value;
        });
        out[output] = sum > 0 ? squares / sum : Dtype(0);
      });
}

#define INSTANTIATE_STOCHASTIC_POOLING(Dtype)                                \
  template void StochasticPoolingForward(const PoolingShape&, const Dtype*,  \
                                         Dtype*, Dtype*);                    \
  template void StochasticPoolingBackward(const PoolingShape&, const Dtype*, \
                                          const Dtype*, Dtype*);             \
  template void ExpectedPooling(const PoolingShape&, const Dtype*, Dtype*)

INSTANTIATE_STOCHASTIC_POOLING(float);
INSTANTIATE_STOCHASTIC_POOLING(double);

}  // namespace caffe::cpu
