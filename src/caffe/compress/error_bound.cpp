#include "caffe/compress/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace caffe {

namespace {

// A bound that moves by more than this has not settled.
constexpr double kRestless = 2;

}  // namespace

double GradientError(const LayerStatistics& statistics, double bound) {
  // Errors of several gradients, independent, are averaged like the gradients.
  const double norm = statistics.gradient_norm / std::sqrt(statistics.channels);
  return bound * std::sqrt(statistics.nonzero_fraction / 3) * norm *
         std::sqrt(statistics.sharers / statistics.passes);
}

double AssessBound(const ErrorBoundParameter& param,
                   const LayerStatistics& statistics) {
  const double sigma = param.tolerance() * statistics.momentum;
  double per_bound = 0;
  switch (param.estimator()) {
    case ErrorBoundParameter::FIXED:
      return param.value();
    case ErrorBoundParameter::RELATIVE:
      return param.value() * statistics.deviation;
    case ErrorBoundParameter::PAPER:
      per_bound = param.coefficient() * statistics.mean_gradient *
                  std::sqrt(statistics.images * statistics.nonzero_fraction);
      break;
    case ErrorBoundParameter::MEASURED:
      per_bound = GradientError(statistics, 1);
      break;
  }
  const double bound = sigma / per_bound;
  const double most = param.max_relative() * statistics.deviation;
  return bound < most ? bound : most;
}

AssessmentSchedule::AssessmentSchedule(int interval)
    : longest_(interval), interval_(interval) {}

void AssessmentSchedule::Assessed(int iteration, double moved) {
  if (moved > kRestless) {
    interval_ = std::max(1, interval_ / 2);
  } else {
    interval_ = std::min(longest_, interval_ * 2);
  }
  // Early on everything moves; doubling steps say nothing about the interval.
  const int doubled = std::max(1, 2 * iteration);
  if (doubled < longest_) {
    interval_ = longest_;
    next_ = doubled;
  } else {
    next_ = iteration + interval_;
  }
}

void AssessmentSchedule::Restore(int interval, int next) {
  interval_ = std::clamp(interval, 1, longest_);
  next_ = next;
}

}  // namespace caffe
