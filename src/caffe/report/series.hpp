#ifndef CAFFE_SRC_REPORT_SERIES_HPP_
#define CAFFE_SRC_REPORT_SERIES_HPP_

#include <cstddef>
#include <string>
#include <vector>

namespace caffe {

struct Point {
  double x = 0;
  double y = 0;
};

// Values over iterations, in the order of these.
struct Series {
  std::string name;
  std::vector<Point> points;

  // Takes the place of what was said of this and of later iterations.
  void Add(double iteration, double value);
  void DropFrom(double iteration);
};

// The same curve with at most about `most` points: of every stretch the first,
// the lowest, the highest and the last. Values that are no numbers remain as
// gaps.
std::vector<Point> Thinned(const std::vector<Point>& points, size_t most);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_SERIES_HPP_
