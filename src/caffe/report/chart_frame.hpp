#ifndef CAFFE_SRC_REPORT_CHART_FRAME_HPP_
#define CAFFE_SRC_REPORT_CHART_FRAME_HPP_

#include <string>
#include <vector>

#include "report/axis.hpp"
#include "report/svg.hpp"

namespace caffe {

// What stands in the legend of a chart.
struct LegendEntry {
  std::string name;
  // Of the style sheet.
  std::string colour;
};

// Title, legend, axes and grid of a chart, and where in it values are drawn.
class ChartFrame {
 public:
  ChartFrame(const std::string& title, const std::vector<LegendEntry>& legend,
             const Axis& x, const Axis& y, const std::string& x_name,
             double plot_height);

  Svg& svg() { return svg_; }
  // Where values are drawn; outside of the axes at their ends.
  Point At(double x, double y) const;
  double left() const { return left_; }
  double right() const { return kWidth - kRight; }
  double top() const { return top_; }
  double bottom() const { return top_ + height_; }

  static constexpr double kWidth = 640;

 private:
  static constexpr double kRight = 18;
  static constexpr double kTitle = 26;
  static constexpr double kLegendRow = 18;
  static constexpr double kBelow = 42;

  struct Place {
    Point at;
    double width = 0;
  };
  static std::vector<Place> PlaceLegend(const std::vector<LegendEntry>& legend);
  static double LegendBottom(const std::vector<LegendEntry>& legend);
  void DrawAxes(const std::string& x_name);

  const Axis x_;
  const Axis y_;
  const double top_;
  const double height_;
  double left_ = 0;
  Svg svg_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_CHART_FRAME_HPP_
