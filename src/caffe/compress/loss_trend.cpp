#include "compress/loss_trend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace caffe {

namespace {

// Losses that hardly ever differ must not make a small step an alarm.
constexpr double kLeastStep = 0.5;

}  // namespace

double LossTrend::limit() const {
  if (state_.losses() < window_) {
    return std::numeric_limits<double>::infinity();
  }
  return state_.mean() + std::max(deviations_ * state_.deviation(),
                                  kLeastStep * std::fabs(state_.mean()));
}

void LossTrend::Add(double loss) {
  loss = std::min(loss, limit());
  const double off = state_.losses() == 0 ? 0 : std::fabs(loss - mean());
  const int losses = std::min(state_.losses() + 1, window_);
  state_.set_losses(losses);
  state_.set_mean(mean() + (loss - mean()) / losses);
  state_.set_deviation(state_.deviation() +
                       (off - state_.deviation()) / losses);
}

}  // namespace caffe
