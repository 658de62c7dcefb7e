#include "caffe/compress/batch_size.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "caffe/error.hpp"
#include "caffe/memory/bytes.hpp"

namespace caffe {

namespace {

using memory::ReadableBytes;

// With any size to choose from, changes by less are not worth their while.
constexpr double kSmallestGrowth = 1.2;

}  // namespace

BatchSizeRule::BatchSizeRule(const BatchSizeParameter& param, size_t budget,
                             int configured)
    : param_(param), budget_(budget), configured_(configured) {
  Require(configured > 0, "the net has no batch size that could be adapted");
  Require(param.max() > 0, "compression.batch_size.max must be above 0, not ",
          param.max());
  Require(param.reserve() >= 0 && param.reserve() < 1,
          "compression.batch_size.reserve must be 0 or more and below 1, not ",
          param.reserve());
}

double BatchSizeRule::limit() const {
  return static_cast<double>(budget_) * (1 - param_.reserve());
}

double BatchSizeRule::upper_limit() const {
  return static_cast<double>(budget_) * (1 - param_.reserve() / 2);
}

int BatchSizeRule::LargestThatFits(int most,
                                   const BatchForecast& forecast) const {
  const auto fits = [&](int size) { return forecast(size) <= limit(); };
  if (param_.any()) {
    if (most < 1 || !fits(1)) return 0;
    int good = 1;
    int bad = most + 1;
    while (bad - good > 1) {
      const int middle = good + (bad - good) / 2;
      (fits(middle) ? good : bad) = middle;
    }
    return good;
  }
  std::set<int> sizes;
  if (configured_ <= most) sizes.insert(configured_);
  for (int64_t size = 1; size <= most; size *= 2) {
    sizes.insert(static_cast<int>(size));
  }
  const auto found = std::find_if(sizes.rbegin(), sizes.rend(), fits);
  return found == sizes.rend() ? 0 : *found;
}

BatchSizeRule::Choice BatchSizeRule::First(
    const BatchForecast& forecast) const {
  const int size = LargestThatFits(configured_, forecast);
  Require(size > 0, "a memory_budget of ",
          ReadableBytes(static_cast<double>(budget_)),
          " cannot hold a batch of 1: the process would take about ",
          ReadableBytes(forecast(1)), ", and ", 100 * param_.reserve(),
          " % are kept in reserve");
  if (size == configured_) return {size, ""};
  return {size, Concat("the forecast for ", configured_, " is ",
                       ReadableBytes(forecast(configured_)))};
}

BatchSizeRule::Choice BatchSizeRule::Next(int current,
                                          const BatchForecast& forecast) const {
  const double now = forecast(current);
  if (now > upper_limit()) {
    // However little there is, it cannot be less than one image.
    const int size = std::max(1, LargestThatFits(current - 1, forecast));
    if (size == current) return {current, ""};
    return {size, Concat("tensors pack less well than before: ",
                         ReadableBytes(now), " for ", current)};
  }
  const int most =
      static_cast<int>(std::min<int64_t>(2 * int64_t{current}, param_.max()));
  const int size = most > current ? LargestThatFits(most, forecast) : current;
  const bool is_worth_it =
      size > current && (!param_.any() || size >= kSmallestGrowth * current ||
                         size == param_.max());
  if (!is_worth_it) return {current, ""};
  return {size, Concat("the forecast is ", ReadableBytes(forecast(size)))};
}

double BatchSizeRule::RateScale(int batch_size) const {
  const double factor = static_cast<double>(batch_size) / configured_;
  switch (param_.lr_scaling()) {
    case BatchSizeParameter::LINEAR:
      return factor;
    case BatchSizeParameter::SQRT:
      return std::sqrt(factor);
    case BatchSizeParameter::NONE:
      break;
  }
  return 1;
}

}  // namespace caffe
