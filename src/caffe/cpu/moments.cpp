#include "cpu/moments.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// Sums over pieces of this size, then over the pieces in order: the same
// however many threads there are.
constexpr int64_t kPiece = 1 << 16;

template <typename Partial, typename Dtype, typename Add>
Partial Reduce(int64_t count, const Dtype* values, const Add& add) {
  const int64_t pieces = (count + kPiece - 1) / kPiece;
  std::vector<Partial> partials(pieces);
  ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t start = p * kPiece;
      add(values + start, std::min(kPiece, count - start), &partials[p]);
    }
  });
  Partial total;
  for (const Partial& partial : partials) total.Add(partial);
  return total;
}

template <typename Dtype>
struct MomentSums {
  double sum = 0;
  double squares = 0;
  int64_t nonzeros = 0;
  Dtype smallest = std::numeric_limits<Dtype>::max();
  Dtype largest = std::numeric_limits<Dtype>::lowest();

  void Add(const MomentSums& other) {
    sum += other.sum;
    squares += other.squares;
    nonzeros += other.nonzeros;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
  }
};

struct NormSums {
  double squares = 0;
  double absolute = 0;

  void Add(const NormSums& other) {
    squares += other.squares;
    absolute += other.absolute;
  }
};

}  // namespace

template <typename Dtype>
Moments MomentsOf(int64_t count, const Dtype* values) {
  if (count == 0) return {};
  using Sums = MomentSums<Dtype>;
  const Sums sums = Reduce<Sums>(
      count, values, [](const Dtype* piece, int64_t size, Sums* partial) {
        // Eight sums at a time, which compilers turn into vectors.
        double sum[8] = {};
        double squares[8] = {};
        int64_t nonzeros = 0;
        Dtype smallest = partial->smallest;
        Dtype largest = partial->largest;
        for (int64_t i = 0; i < size; ++i) {
          const double x = piece[i];
          sum[i % 8] += x;
          squares[i % 8] += x * x;
          nonzeros += piece[i] != 0;
          smallest = std::min(smallest, piece[i]);
          largest = std::max(largest, piece[i]);
        }
        for (int k = 0; k < 8; ++k) {
          partial->sum += sum[k];
          partial->squares += squares[k];
        }
        partial->nonzeros = nonzeros;
        partial->smallest = smallest;
        partial->largest = largest;
      });
  const auto n = static_cast<double>(count);
  Moments moments;
  moments.mean = sums.sum / n;
  moments.deviation =
      std::sqrt(std::max(0.0, sums.squares / n - moments.mean * moments.mean));
  moments.smallest = sums.smallest;
  moments.largest = sums.largest;
  moments.nonzero_fraction = static_cast<double>(sums.nonzeros) / n;
  return moments;
}

template <typename Dtype>
Norms NormsOf(int64_t count, const Dtype* values) {
  if (count == 0) return {};
  const NormSums sums = Reduce<NormSums>(
      count, values, [](const Dtype* piece, int64_t size, NormSums* partial) {
        double squares[8] = {};
        double absolute[8] = {};
        for (int64_t i = 0; i < size; ++i) {
          const double x = piece[i];
          squares[i % 8] += x * x;
          absolute[i % 8] += std::fabs(x);
        }
        for (int k = 0; k < 8; ++k) {
          partial->squares += squares[k];
          partial->absolute += absolute[k];
        }
      });
  return {std::sqrt(sums.squares), sums.absolute / static_cast<double>(count)};
}

template <typename Dtype>
double LargestDifference(int64_t count, const Dtype* a, const Dtype* b) {
  double largest[8] = {};
  bool has_others = false;
  for (int64_t i = 0; i < count; ++i) {
    const double difference =
        std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest[i % 8] = difference > largest[i % 8] ? difference : largest[i % 8];
    has_others |= std::isnan(difference);
  }
  double result = *std::max_element(std::begin(largest), std::end(largest));
  for (int64_t i = 0; has_others && i < count; ++i) {
    const bool is_same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!is_same && std::isnan(a[i] - b[i]))
      result = std::numeric_limits<double>::infinity();
  }
  return result;
}

template <typename Dtype>
bool AllFinite(int64_t count, const Dtype* values) {
  bool has_others = false;
  for (int64_t i = 0; i < count; ++i) {
    // Comparing with what is not a number gives false.
    has_others |= !(std::fabs(values[i]) <= std::numeric_limits<Dtype>::max());
  }
  return !has_others;
}

template Moments MomentsOf(int64_t count, const float* values);
template Moments MomentsOf(int64_t count, const double* values);
template Norms NormsOf(int64_t count, const float* values);
template Norms NormsOf(int64_t count, const double* values);
template bool AllFinite(int64_t count, const float* values);
template bool AllFinite(int64_t count, const double* values);
template double LargestDifference(int64_t count, const float* a,
                                  const float* b);
template double LargestDifference(int64_t count, const double* a,
                                  const double* b);

}  // namespace caffe::cpu
