#include "report/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace caffe {

namespace {

constexpr double kFarthest = 1e300;

// The smallest of 1, 2, 5, 10, 20... that is not below the value; of any
// magnitude.
double RoundStep(double value) {
  const double magnitude = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Not for a rounding error.
    if (factor * magnitude >= value * (1 - 1e-9)) return factor * magnitude;
  }
  return 10 * magnitude;
}

std::string Print(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

}  // namespace

std::string ReadableNumber(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : "infinite";
  const double size = std::fabs(value);
  if (size >= 1e13) return Print("%.3g", value);
  constexpr std::array<std::pair<double, const char*>, 3> kUnits = {
      {{1e9, "%.4gG"}, {1e6, "%.4gM"}, {1e4, "%.4gk"}}};
  for (const auto& [unit, format] : kUnits) {
    if (size < unit) continue;
    return Print(format, value / (unit == 1e4 ? 1e3 : unit));
  }
  return Print("%.4g", value);
}

Scale ScaleFor(double low, double high) {
  constexpr double kWide = 50;
  return low > 0 && high / low > kWide ? Scale::kLog : Scale::kLinear;
}

Axis::Axis(double low, double high, Scale scale, int most_ticks)
    : scale_(scale) {
  low_ = std::isfinite(low) ? std::clamp(low, -kFarthest, kFarthest) : 0;
  high_ = std::isfinite(high) ? std::clamp(high, -kFarthest, kFarthest) : 1;
  if (low_ > high_) std::swap(low_, high_);
  if (scale_ == Scale::kLog) {
    SetLogTicks(most_ticks);
  } else {
    SetLinearTicks(most_ticks, /*rounds=*/true);
  }
}

Axis Axis::Exactly(double low, double high, int most_ticks) {
  Axis axis;
  axis.low_ = low;
  axis.high_ = high > low ? high : low + 1;
  axis.SetLinearTicks(most_ticks, /*rounds=*/false);
  return axis;
}

void Axis::SetLinearTicks(int most_ticks, bool rounds) {
  const double size = std::max(std::fabs(low_), std::fabs(high_));
  if (high_ - low_ <= size * 1e-12) {
    const double margin = size > 0 ? size * 0.5 : 1;
    low_ -= margin;
    high_ += margin;
  }
  const double step = RoundStep((high_ - low_) / std::max(1, most_ticks - 1));
  if (rounds) {
    low_ = std::floor(low_ / step + 1e-9) * step;
    high_ = std::ceil(high_ / step - 1e-9) * step;
  }
  const double first = std::ceil(low_ / step - 1e-9);
  const double last = std::floor(high_ / step + 1e-9);
  for (double k = first; k <= last; ++k) {
    // Zero is written without a sign.
    const double value = k == 0 ? 0 : k * step;
    ticks_.push_back({value, ReadableNumber(value)});
  }
}

void Axis::SetLogTicks(int most_ticks) {
  const double first = std::floor(std::log10(low_) + 1e-9);
  const double last = std::max(first + 1, std::ceil(std::log10(high_) - 1e-9));
  low_ = std::pow(10, first);
  high_ = std::pow(10, last);
  const double decades = last - first;
  const double each = std::ceil((decades + 1) / std::max(2, most_ticks));
  const bool has_room = (decades + 1) * 3 <= most_ticks;
  for (double k = first; k <= last; k += each) {
    const double decade = std::pow(10, k);
    for (const double factor : {1.0, 2.0, 5.0}) {
      const bool is_shown = factor == 1 || (has_room && k < last);
      if (!is_shown) continue;
      ticks_.push_back({factor * decade, ReadableNumber(factor * decade)});
    }
  }
}

double Axis::Fraction(double value) const {
  if (scale_ == Scale::kLog) {
    if (value <= 0) return 0;
    return (std::log10(value) - std::log10(low_)) /
           (std::log10(high_) - std::log10(low_));
  }
  return (value - low_) / (high_ - low_);
}

}  // namespace caffe
