#include "report/chart_frame.hpp"

#include <algorithm>
#include <cmath>

namespace caffe {

namespace {

constexpr double kSwatch = 10;
constexpr double kGap = 16;

}  // namespace

std::vector<ChartFrame::Place> ChartFrame::PlaceLegend(
    const std::vector<LegendEntry>& legend) {
  constexpr double kWidest = 260;
  std::vector<Place> places;
  Point at = {kRight, kTitle + 12};
  for (const LegendEntry& entry : legend) {
    const double width = std::min(kWidest, TextWidth(entry.name));
    if (at.x + kSwatch + 6 + width > kWidth - kRight && at.x > kRight) {
      at = {kRight, at.y + kLegendRow};
    }
    places.push_back({at, width});
    at.x += kSwatch + 6 + width + kGap;
  }
  return places;
}

double ChartFrame::LegendBottom(const std::vector<LegendEntry>& legend) {
  const std::vector<Place> places = PlaceLegend(legend);
  return (places.empty() ? kTitle : places.back().at.y) + 14;
}

ChartFrame::ChartFrame(const std::string& title,
                       const std::vector<LegendEntry>& legend, const Axis& x,
                       const Axis& y, const std::string& x_name,
                       double plot_height)
    : x_(x),
      y_(y),
      top_(LegendBottom(legend)),
      height_(plot_height),
      svg_(kWidth, top_ + height_ + kBelow, "chart", title) {
  for (const Tick& tick : y_.ticks()) {
    left_ = std::max(left_, TextWidth(tick.label) + 16);
  }
  svg_.Text({kRight, 18}, title, "start", "title", kWidth - 2 * kRight);
  const std::vector<Place> places = PlaceLegend(legend);
  for (size_t i = 0; i < legend.size(); ++i) {
    const auto& [at, width] = places[i];
    svg_.Rectangle({at.x, at.y - 9}, kSwatch, kSwatch,
                   "area " + legend[i].colour);
    svg_.Text({at.x + kSwatch + 6, at.y}, legend[i].name, "start", "legend",
              width + 1);
  }
  DrawAxes(x_name);
}

void ChartFrame::DrawAxes(const std::string& x_name) {
  for (const Tick& tick : y_.ticks()) {
    const double y = At(0, tick.value).y;
    svg_.Line({left(), y}, {right(), y}, "grid");
    svg_.Text({left() - 6, y + 4}, tick.label, "end", "tick");
  }
  double free_from = 0;
  for (const Tick& tick : x_.ticks()) {
    const double x = At(tick.value, 0).x;
    const double half = TextWidth(tick.label) / 2;
    svg_.Line({x, bottom()}, {x, bottom() + 4}, "axis");
    const double middle = std::min(x, kWidth - half - 2);
    if (middle - half < free_from) continue;
    free_from = middle + half + 8;
    svg_.Text({middle, bottom() + 17}, tick.label, "middle", "tick");
  }
  svg_.Line({left(), bottom()}, {right(), bottom()}, "axis");
  svg_.Text({(left() + right()) / 2, bottom() + 35}, x_name, "middle", "tick");
}

Point ChartFrame::At(double x, double y) const {
  const auto clamped = [](double fraction) {
    return std::isnan(fraction) ? fraction : std::clamp(fraction, 0.0, 1.0);
  };
  return {left() + clamped(x_.Fraction(x)) * (right() - left()),
          bottom() - clamped(y_.Fraction(y)) * height_};
}

}  // namespace caffe
