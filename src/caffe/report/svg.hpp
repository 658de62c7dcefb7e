#ifndef CAFFE_SRC_REPORT_SVG_HPP_
#define CAFFE_SRC_REPORT_SVG_HPP_

#include <string>
#include <string_view>
#include <vector>

#include "report/series.hpp"

namespace caffe {

// Text as it may stand in HTML and SVG, in attributes as well.
std::string Escaped(std::string_view text);

// How wide text of 12 pixels is at most, near enough to leave room for it.
double TextWidth(std::string_view text);
// The text, or its start and its end, in at most so many pixels.
std::string Shortened(std::string_view text, double width);

// A drawing. Colours come from the style sheet of the page, by classes.
class Svg {
 public:
  // `label` tells what it shows to whoever cannot see it.
  Svg(double width, double height, std::string_view css_class,
      std::string_view label);

  void Line(Point from, Point to, std::string_view css_class);
  // `anchor` is start, middle or end. What does not fit into `most` pixels is
  // shortened, and shown when the mouse is over it.
  void Text(Point at, std::string_view text, std::string_view anchor,
            std::string_view css_class, double most = 1e9);
  // With a text for the mouse, unless empty.
  void Rectangle(Point corner, double width, double height,
                 std::string_view css_class, std::string_view tooltip = "");
  void Circle(Point center, double radius, std::string_view css_class,
              std::string_view tooltip = "");
  // A line through the points, with gaps where they are no numbers.
  void Curve(const std::vector<Point>& points, std::string_view css_class,
             std::string_view tooltip = "");
  void Polygon(const std::vector<Point>& points, std::string_view css_class,
               std::string_view tooltip = "");

  std::string text() const;

 private:
  void End(std::string_view element, std::string_view tooltip);

  std::string text_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_SVG_HPP_
