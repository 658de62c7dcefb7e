#include "cpu/eltwise.hpp"

#include "cpu/copy.hpp"
#include "cpu/parallel.hpp"
#include "cpu/stream.hpp"

namespace caffe::cpu {

namespace {

// Values that stay in the first-level cache while further arrays are folded
// into them, so that memory sees every array once.
constexpr int64_t kBlock = 2048;

// Calls body(begin, end) for every block of [0, n), on all threads.
template <typename Body>
void ForBlocks(int64_t n, const Body& body) {
  ParallelFor(n, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    for (int64_t from = begin; from < end; from += kBlock) {
      body(from, std::min(from + kBlock, end));
    }
  });
}

// Calls body(begin, end, to) for every block of [0, n), to write its values to
// `to`, the first of them at to[0]: that is out + begin, or, when `out` is
// large and none of the inputs, a place from which it is streamed there.
template <typename Dtype, typename Body>
void WriteBlocks(int64_t n, bool is_input, Dtype* out, const Body& body) {
  const bool stream = !is_input && WorthStreaming(n * sizeof(Dtype));
  ForBlocks(n, [&](int64_t begin, int64_t end) {
    if (!stream) return body(begin, end, out + begin);
    Dtype buffer[kBlock];
    body(begin, end, buffer);
    StreamBytes((end - begin) * sizeof(Dtype), buffer, out + begin);
  });
}

// out = join(join(arrays[0], arrays[1]), arrays[2]) ....
template <typename Dtype, typename Join>
void Fold(int64_t n, std::span<const Dtype* const> arrays, Dtype* out,
          const Join& join) {
  if (arrays.size() == 1) {
    if (out != arrays[0]) Copy(n, arrays[0], out);
    return;
  }
  WriteBlocks(n, out == arrays[0], out,
              [&](int64_t begin, int64_t end, Dtype* to) {
                const int64_t size = end - begin;
                const Dtype* const first = arrays[0] + begin;
                const Dtype* const second = arrays[1] + begin;
#pragma omp simd
                for (int64_t i = 0; i < size; ++i) {
                  to[i] = join(first[i], second[i]);
                }
                for (size_t k = 2; k < arrays.size(); ++k) {
                  const Dtype* const next = arrays[k] + begin;
#pragma omp simd
                  for (int64_t i = 0; i < size; ++i) {
                    to[i] = join(to[i], next[i]);
                  }
                }
              });
}

}  // namespace

template <typename Dtype>
void Sum(int64_t n, std::span<const Dtype* const> terms, Dtype* out) {
  Fold(n, terms, out, [](Dtype a, Dtype b) { return a + b; });
}

template <typename Dtype>
void WeightedSum(int64_t n, std::span<const Dtype* const> terms,
                 std::span<const Dtype> coefficients, Dtype* out) {
  ForBlocks(n, [&](int64_t begin, int64_t end) {
    const Dtype* const first = terms[0];
    const Dtype scale = coefficients[0];
    if (terms.size() == 1) {
      for (int64_t i = begin; i < end; ++i) out[i] = scale * first[i];
      return;
    }
    const Dtype* const second = terms[1];
    const Dtype second_scale = coefficients[1];
    for (int64_t i = begin; i < end; ++i) {
      out[i] = scale * first[i] + second_scale * second[i];
    }
    for (size_t k = 2; k < terms.size(); ++k) {
      const Dtype* const next = terms[k];
      const Dtype next_scale = coefficients[k];
      for (int64_t i = begin; i < end; ++i) out[i] += next_scale * next[i];
    }
  });
}

template <typename Dtype>
void Product(int64_t n, std::span<const Dtype* const> factors, Dtype* out) {
  Fold(n, factors, out, [](Dtype a, Dtype b) { return a * b; });
}

template <typename Dtype>
void Maximum(int64_t n, std::span<const Dtype* const> arrays, Dtype* out,
             int* which) {
  ForBlocks(n, [&](int64_t begin, int64_t end) {
    const Dtype* const first = arrays[0];
    const Dtype* const second = arrays[1];
    for (int64_t i = begin; i < end; ++i) {
      const bool first_wins = first[i] > second[i];
      which[i] = first_wins ? 0 : 1;
      out[i] = first_wins ? first[i] : second[i];
    }
    for (size_t k = 2; k < arrays.size(); ++k) {
      const Dtype* const next = arrays[k];
      for (int64_t i = begin; i < end; ++i) {
        const bool next_wins = next[i] > out[i];
        which[i] = next_wins ? static_cast<int>(k) : which[i];
        out[i] = next_wins ? next[i] : out[i];
      }
    }
  });
}

template <typename Dtype>
void MaximumBackward(int64_t n, int k, const int* which, const Dtype* top_diff,
                     Dtype* diff) {
  ParallelFor(n, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Read in any case, so that it does not become a branch.
      const Dtype value = top_diff[i];
      diff[i] = which[i] == k ? value : Dtype(0);
    }
  });
}

#define INSTANTIATE_ELTWISE(Dtype)                                             \
  template void Sum(int64_t, std::span<const Dtype* const>, Dtype*);           \
  template void WeightedSum(int64_t, std::span<const Dtype* const>,            \
                            std::span<const Dtype>, Dtype*);                   \
  template void Product(int64_t, std::span<const Dtype* const>, Dtype*);       \
  template void Maximum(int64_t, std::span<const Dtype* const>, Dtype*, int*); \
  template void MaximumBackward(int64_t, int, const int*, const Dtype*, Dtype*)

INSTANTIATE_ELTWISE(float);
INSTANTIATE_ELTWISE(double);

}  // namespace caffe::cpu
