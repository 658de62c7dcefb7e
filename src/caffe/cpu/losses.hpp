#ifndef CAFFE_SRC_CPU_LOSSES_HPP_
#define CAFFE_SRC_CPU_LOSSES_HPP_

#include <cstdint>
#include <optional>

// Losses, summed over a batch, and the gradients of scale * loss by the scores.
// Results do not depend on the number of threads. Softmax has its own in
// cpu/softmax.hpp.
namespace caffe::cpu {

// How many targets are not `ignored`. A target with a fraction counts as the
// integer towards zero.
template <typename Dtype>
int64_t CountTargets(int64_t n, const Dtype* targets,
                     std::optional<int> ignored);

// -t * log(p) - (1 - t) * log(1 - p) with p = sigmoid(score), for every target
// t that is not `ignored`.
template <typename Dtype>
double SigmoidCrossEntropy(int64_t n, const Dtype* scores, const Dtype* targets,
                           std::optional<int> ignored);
template <typename Dtype>
void SigmoidCrossEntropyBackward(int64_t n, const Dtype* scores,
                                 const Dtype* targets,
                                 std::optional<int> ignored, Dtype scale,
                                 Dtype* diff);

// max(0, 1 + score), or its square, for every class of an item but that of its
// label, whose score counts with the other sign. Labels must be in [0,
// classes).
template <typename Dtype>
double Hinge(int64_t items, int64_t classes, const Dtype* scores,
             const int* labels, bool squared);
template <typename Dtype>
void HingeBackward(int64_t items, int64_t classes, const Dtype* scores,
                   const int* labels, bool squared, Dtype scale, Dtype* diff);

// The sum over classes of -gains[label][class] * log(probability of the class),
// for every position of an (outer, classes, inner) array of probabilities;
// those below `smallest` count as that. A negative label leaves its position
// out; others must be below `classes`.
template <typename Dtype>
double Infogain(int64_t outer, int64_t classes, int64_t inner,
                const Dtype* probabilities, const int* labels,
                const Dtype* gains, Dtype smallest);
// By the scores of which the probabilities are the softmax.
template <typename Dtype>
void InfogainBackward(int64_t outer, int64_t classes, int64_t inner,
                      const Dtype* probabilities, const int* labels,
                      const Dtype* gains, Dtype scale, Dtype* diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_LOSSES_HPP_
