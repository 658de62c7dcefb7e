#include "cpu/losses.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/elementwise.hpp"
#include "cpu/planes.hpp"
#include "cpu/sums.hpp"

namespace caffe::cpu {

namespace {

template <typename Dtype>
bool Counts(Dtype target, std::optional<int> ignored) {
  return !ignored || std::trunc(target) != static_cast<Dtype>(*ignored);
}

// What Hinge takes the positive part of, for value i.
template <typename Dtype>
Dtype HingeMargin(int64_t classes, const Dtype* scores, const int* labels,
                  int64_t i) {
  const bool is_label = i % classes == labels[i / classes];
  return 1 + (is_label ? -scores[i] : scores[i]);
}

}  // namespace

template <typename Dtype>
int64_t CountTargets(int64_t n, const Dtype* targets,
                     std::optional<int> ignored) {
  if (!ignored) return n;
  return std::count_if(targets, targets + n,
                       [=](Dtype target) { return Counts(target, ignored); });
}

template <typename Dtype>
double SigmoidCrossEntropy(int64_t n, const Dtype* scores, const Dtype* targets,
                           std::optional<int> ignored) {
  return SumOf(n, [=](int64_t i) {
    if (!Counts(targets[i], ignored)) return 0.0;
    const double x = scores[i];
    // Written so that nothing overflows, and what is not a number stays so.
    const double positive = x < 0 ? 0 : x;
    return positive - x * targets[i] + std::log1p(std::exp(-std::fabs(x)));
  });
}

template <typename Dtype>
void SigmoidCrossEntropyBackward(int64_t n, const Dtype* scores,
                                 const Dtype* targets,
                                 std::optional<int> ignored, Dtype scale,
                                 Dtype* diff) {
  ForEachElementary<Dtype>(
      n, Elementary::kSigmoid, [=](int64_t i) { return scores[i]; },
      [=](int64_t i, Dtype sigmoid) {
        const Dtype distance = sigmoid - targets[i];
        diff[i] = Counts(targets[i], ignored) ? scale * distance : 0;
      });
}

template <typename Dtype>
double Hinge(int64_t items, int64_t classes, const Dtype* scores,
             const int* labels, bool squared) {
  return SumOf(items * classes, [=](int64_t i) {
    const double margin = HingeMargin(classes, scores, labels, i);
    if (margin < 0) return 0.0;
    return squared ? margin * margin : margin;
  });
}

template <typename Dtype>
void HingeBackward(int64_t items, int64_t classes, const Dtype* scores,
                   const int* labels, bool squared, Dtype scale, Dtype* diff) {
  ForEachValue(items * classes, [=](int64_t i) {
    const Dtype margin = HingeMargin(classes, scores, labels, i);
    const Dtype slope = squared ? 2 * margin : Dtype(1);
    const bool is_label = i % classes == labels[i / classes];
    const Dtype gradient = is_label ? -scale * slope : scale * slope;
    diff[i] = margin > 0 ? gradient : 0;
  });
}

template <typename Dtype>
double Infogain(int64_t outer, int64_t classes, int64_t inner,
                const Dtype* probabilities, const int* labels,
                const Dtype* gains, Dtype smallest) {
  return SumOf(outer * inner, [=](int64_t i) {
    if (labels[i] < 0) return 0.0;
    const Dtype* const position =
        probabilities + i / inner * classes * inner + i % inner;
    const Dtype* const gain = gains + labels[i] * classes;
    double loss = 0;
    for (int64_t c = 0; c < classes; ++c) {
      loss -= gain[c] * LogOfAtLeast(smallest, position[c * inner]);
    }
    return loss;
  });
}

template <typename Dtype>
void InfogainBackward(int64_t outer, int64_t classes, int64_t inner,
                      const Dtype* probabilities, const int* labels,
                      const Dtype* gains, Dtype scale, Dtype* diff) {
  std::vector<Dtype> sums(classes);
  for (int64_t c = 0; c < classes; ++c) {
    const Dtype* const gain = gains + c * classes;
    for (int64_t k = 0; k < classes; ++k) sums[c] += gain[k];
  }
  ParallelFor(outer * classes, PlaneGrain(inner),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const int* const label = labels + row / classes * inner;
                  const Dtype* const gain = gains + row % classes;
                  const Dtype* const from = probabilities + row * inner;
                  Dtype* const to = diff + row * inner;
                  for (int64_t i = 0; i < inner; ++i) {
                    to[i] = label[i] < 0 ? Dtype(0)
                                         : scale * (from[i] * sums[label[i]] -
                                                    gain[label[i] * classes]);
                  }
                }
              });
}

#define INSTANTIATE_LOSSES(Dtype)                                              \
  template int64_t CountTargets(int64_t, const Dtype*, std::optional<int>);    \
  template double SigmoidCrossEntropy(int64_t, const Dtype*, const Dtype*,     \
                                      std::optional<int>);                     \
  template void SigmoidCrossEntropyBackward(                                   \
      int64_t, const Dtype*, const Dtype*, std::optional<int>, Dtype, Dtype*); \
  template double Hinge(int64_t, int64_t, const Dtype*, const int*, bool);     \
  template void HingeBackward(int64_t, int64_t, const Dtype*, const int*,      \
                              bool, Dtype, Dtype*);                            \
  template double Infogain(int64_t, int64_t, int64_t, const Dtype*,            \
                           const int*, const Dtype*, Dtype);                   \
  template void InfogainBackward(int64_t, int64_t, int64_t, const Dtype*,      \
                                 const int*, const Dtype*, Dtype, Dtype*)

INSTANTIATE_LOSSES(float);
INSTANTIATE_LOSSES(double);

}  // namespace caffe::cpu
