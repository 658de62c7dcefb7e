#ifndef CAFFE_COMPRESS_ERROR_BOUND_HPP_
#define CAFFE_COMPRESS_ERROR_BOUND_HPP_

#include "caffe/proto/compress.pb.h"

// How large errors of activations may be so that they do no harm. Numbers only:
// whoever calls collects them from a net and a solver.

namespace caffe {

// What was measured of a layer that multiplies activations with gradients to
// get the gradient of its weights.
struct LayerStatistics {
  // Of the activations: which part is not zero, and their standard deviation.
  double nonzero_fraction = 0;
  double deviation = 0;
  // Of the gradient that comes from above: its L2 norm, the mean of its
  // absolute values, and over how many output channels it spreads.
  double gradient_norm = 0;
  double mean_gradient = 0;
  double channels = 1;
  // Images a batch.
  double images = 1;
  // Mean absolute momentum of the weights, in units of their gradient.
  double momentum = 0;
  // How many gradients are averaged into one, and how many layers share the
  // weights.
  double passes = 1;
  double sharers = 1;
};

// The standard deviation of the error of a weights' gradient.
struct GradientSigma {
  double predicted = 0;
  double measured = 0;
};

// The standard deviation of the error that the gradient of the weights gets
// from errors, uniform in +-bound, of all activations that are not zero.
//
// A weight's gradient is a sum of activations times gradients of one output
// channel k, so the variance of its error is bound^2 / 3 times the sum of the
// squared gradients where activations are not zero. Root mean square over the
// channels.
double GradientError(const LayerStatistics& statistics, double bound);

// The bound at which that error is the tolerated one. Infinite when any is.
double AssessBound(const ErrorBoundParameter& param,
                   const LayerStatistics& statistics);

// When bounds are assessed: in iterations 0, 1, 2, 4, ... and then every
// `interval`. A bound that has moved by more than a factor of two halves the
// interval; when all have settled it grows back.
class AssessmentSchedule {
 public:
  explicit AssessmentSchedule(int interval);

  bool IsDue(int iteration) const { return iteration >= next_; }
  // An assessment was made in that iteration; the largest factor by which it
  // changed a bound, up or down, is `moved`.
  void Assessed(int iteration, double moved);

  int interval() const { return interval_; }
  int next() const { return next_; }
  // As they were.
  void Restore(int interval, int next);

 private:
  int longest_;
  int interval_;
  int next_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_ERROR_BOUND_HPP_
