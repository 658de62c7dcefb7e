#ifndef CAFFE_SRC_REPORT_CHARTS_HPP_
#define CAFFE_SRC_REPORT_CHARTS_HPP_

#include <functional>
#include <string>
#include <vector>

#include "report/run_history.hpp"
#include "report/series.hpp"

// The drawings of a report, as SVG.

namespace caffe {

// How many colours the style sheet has: classes c0, c1, ...
constexpr int kColours = 10;

struct Curve {
  std::string name;
  std::vector<Point> points;
  int colour = 0;
  // Drawn thin, behind others.
  bool is_faint = false;
  // A point for every value, when they are few.
  bool has_dots = false;
};

struct LineChart {
  std::string title;
  std::vector<Curve> curves;
  // Of all x, also beyond the curves.
  double last_x = 0;
  // Vertical lines.
  std::vector<Happening> marks;
  // Values are never drawn from below zero on.
  bool starts_at_zero = false;
};

// Empty when no curve has a number.
std::string Draw(const LineChart& chart);

// Bytes of every kind over the time of an iteration, on top of each other.
std::string Draw(const MemoryHistory& memory);

// A small curve for a line of text; empty without numbers.
std::string DrawSmall(const Series& series, int colour);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_CHARTS_HPP_
