#include "report/series.hpp"

#include <algorithm>
#include <cmath>

namespace caffe {

void Series::Add(double iteration, double value) {
  DropFrom(iteration);
  points.push_back({iteration, value});
}

void Series::DropFrom(double iteration) {
  while (!points.empty() && points.back().x >= iteration) points.pop_back();
}

std::vector<Point> Thinned(const std::vector<Point>& points, size_t most) {
  constexpr size_t kOfAStretch = 5;
  if (points.size() <= most) return points;
  const size_t stretches = std::max<size_t>(1, most / kOfAStretch);
  std::vector<Point> thinned;
  thinned.reserve(stretches * kOfAStretch);
  for (size_t s = 0; s < stretches; ++s) {
    const size_t begin = s * points.size() / stretches;
    const size_t end = (s + 1) * points.size() / stretches;
    // Indices of those to keep.
    std::vector<size_t> kept = {begin, end - 1};
    size_t lowest = end;
    size_t highest = end;
    size_t gap = end;
    for (size_t i = begin; i < end; ++i) {
      if (!std::isfinite(points[i].y)) {
        gap = i;
        continue;
      }
      if (lowest == end || points[i].y < points[lowest].y) lowest = i;
      if (highest == end || points[i].y > points[highest].y) highest = i;
    }
    for (const size_t index : {lowest, highest, gap}) {
      if (index != end) kept.push_back(index);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const size_t index : kept) thinned.push_back(points[index]);
  }
  return thinned;
}

}  // namespace caffe
