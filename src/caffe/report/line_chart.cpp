#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe/error.hpp"
#include "report/chart_frame.hpp"
#include "report/charts.hpp"

namespace caffe {

namespace {

constexpr double kPlotHeight = 230;
constexpr size_t kMostPoints = 1500;
constexpr size_t kMostDots = 60;

std::string ColourClass(int colour) { return Concat("c", colour % kColours); }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

Axis VerticalAxis(const LineChart& chart, const Range& range) {
  constexpr int kMostTicks = 7;
  const Scale scale = ScaleFor(range.low, range.high);
  // Sums of losses may end a rounding error below zero.
  const bool is_about_zero = range.low < 0 && -range.low < 1e-5 * range.high;
  const bool from_zero =
      is_about_zero ||
      (chart.starts_at_zero && range.low > 0 && scale == Scale::kLinear);
  return Axis(from_zero ? 0 : range.low, range.high, scale, kMostTicks);
}

void DrawCurve(const Curve& curve, ChartFrame* frame) {
  const std::string colour = ColourClass(curve.colour);
  std::vector<Point> points;
  for (const Point& point : Thinned(curve.points, kMostPoints)) {
    points.push_back(frame->At(point.x, point.y));
  }
  const double last = curve.points.empty() ? NAN : curve.points.back().y;
  frame->svg().Curve(
      points, Concat(curve.is_faint ? "line faint " : "line ", colour),
      Concat(curve.name, ": ", ReadableNumber(last), " at the end"));
  if (!curve.has_dots || curve.points.size() > kMostDots) return;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].y)) continue;
    frame->svg().Circle(points[i], 3, "area " + colour,
                        curve.name + " " + ReadableNumber(curve.points[i].y) +
                            " in iteration " +
                            ReadableNumber(curve.points[i].x));
  }
}

}  // namespace

std::string Draw(const LineChart& chart) {
  Range x;
  Range y;
  std::vector<LegendEntry> legend;
  for (const Curve& curve : chart.curves) {
    for (const Point& point : curve.points) {
      x.Add(point.x);
      y.Add(point.y);
    }
    legend.push_back({curve.name, ColourClass(curve.colour) +
                                      (curve.is_faint ? " faint" : "")});
  }
  if (y.is_empty()) return "";
  // The title says it.
  if (legend.size() == 1 && legend[0].name == chart.title) legend.clear();
  x.Add(chart.last_x);
  ChartFrame frame(chart.title, legend, Axis::Exactly(x.low, x.high, 8),
                   VerticalAxis(chart, y), "iteration", kPlotHeight);
  for (const Happening& mark : chart.marks) {
    const double at = frame.At(mark.iteration, 0).x;
    frame.svg().Line({at, frame.top()}, {at, frame.bottom()},
                     "mark " + mark.kind);
  }
  for (const bool is_faint : {true, false}) {
    for (const Curve& curve : chart.curves) {
      if (curve.is_faint == is_faint) DrawCurve(curve, &frame);
    }
  }
  return frame.svg().text();
}

std::string DrawSmall(const Series& series, int colour) {
  constexpr double kWidth = 150;
  constexpr double kHeight = 24;
  constexpr double kMargin = 2;
  Range x;
  Range y;
  for (const Point& point : series.points) {
    x.Add(point.x);
    y.Add(point.y);
  }
  if (y.is_empty()) return "";
  const auto scaled = [](double value, const Range& range) {
    return range.high > range.low
               ? (value - range.low) / (range.high - range.low)
               : 0.5;
  };
  const bool is_log = ScaleFor(y.low, y.high) == Scale::kLog;
  const auto height = [&](double value) {
    return is_log ? std::log(value) : value;
  };
  const Range heights = {height(y.low), height(y.high)};
  std::vector<Point> points;
  for (const Point& point : Thinned(series.points, 200)) {
    points.push_back(
        {kMargin + scaled(point.x, x) * (kWidth - 2 * kMargin),
         kHeight - kMargin -
             scaled(height(point.y), heights) * (kHeight - 2 * kMargin)});
  }
  const std::string range =
      Concat("from ", ReadableNumber(y.low), " to ", ReadableNumber(y.high));
  Svg svg(kWidth, kHeight, "small", range);
  svg.Curve(points, Concat("line ", ColourClass(colour)));
  svg.Rectangle({0, 0}, kWidth, kHeight, "hover", range);
  return svg.text();
}

}  // namespace caffe
