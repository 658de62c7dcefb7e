#include "report/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "caffe/error.hpp"

namespace caffe {

namespace {

// A tenth of a pixel is enough.
std::string Number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f",
                std::clamp(std::isfinite(value) ? value : 0, -1e6, 1e6));
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number == "-0" ? "0" : number;
}

bool IsInside(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

bool IsNumber(const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        const bool is_control =
            static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
        escaped += is_control || c == 0x7F ? ' ' : c;
      }
    }
  }
  return escaped;
}

double TextWidth(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    if (IsInside(c)) continue;
    const bool is_narrow = std::string_view("iljtfr.,:;'|!()[] ").find(c) !=
                           std::string_view::npos;
    const bool is_wide =
        std::string_view("mwMW@%").find(c) != std::string_view::npos ||
        static_cast<unsigned char>(c) >= 0xE0;
    width += is_narrow ? 4.6 : is_wide ? 12 : (c >= 'A' && c <= 'Z') ? 9 : 7.7;
  }
  return width;
}

std::string Shortened(std::string_view text, double width) {
  if (TextWidth(text) <= width) return std::string(text);
  // The ends of names tell them apart.
  size_t front = text.size() * 2 / 5;
  size_t back = text.size() - front;
  const auto joined = [&] {
    while (front > 0 && IsInside(text[front])) --front;
    while (back < text.size() && IsInside(text[back])) ++back;
    return Concat(text.substr(0, front), "\u2026", text.substr(back));
  };
  while (front + (text.size() - back) > 2 && TextWidth(joined()) > width) {
    if (front > text.size() - back && front > 0) {
      --front;
    } else {
      ++back;
    }
  }
  return joined();
}

Svg::Svg(double width, double height, std::string_view css_class,
         std::string_view label) {
  text_ = Concat("<svg class=\"", css_class, "\" viewBox=\"0 0 ", Number(width),
                 " ", Number(height), "\" width=\"", Number(width),
                 "\" height=\"", Number(height),
                 "\" role=\"img\" aria-label=\"", Escaped(label), "\">");
}

std::string Svg::text() const { return text_ + "</svg>\n"; }

void Svg::End(std::string_view element, std::string_view tooltip) {
  if (tooltip.empty()) {
    text_ += "/>";
    return;
  }
  text_ += Concat("><title>", Escaped(tooltip), "</title></", element, ">");
}

void Svg::Line(Point from, Point to, std::string_view css_class) {
  text_ += Concat("<line class=\"", css_class, "\" x1=\"", Number(from.x),
                  "\" y1=\"", Number(from.y), "\" x2=\"", Number(to.x),
                  "\" y2=\"", Number(to.y), "\"/>");
}

void Svg::Text(Point at, std::string_view text, std::string_view anchor,
               std::string_view css_class, double most) {
  const std::string shortened = Shortened(text, most);
  text_ += Concat("<text class=\"", css_class, "\" x=\"", Number(at.x),
                  "\" y=\"", Number(at.y), "\" text-anchor=\"", anchor, "\">",
                  Escaped(shortened));
  if (shortened != text) {
    text_ += Concat("<title>", Escaped(text), "</title>");
  }
  text_ += "</text>";
}

void Svg::Rectangle(Point corner, double width, double height,
                    std::string_view css_class, std::string_view tooltip) {
  text_ += Concat("<rect class=\"", css_class, "\" x=\"", Number(corner.x),
                  "\" y=\"", Number(corner.y), "\" width=\"", Number(width),
                  "\" height=\"", Number(height), "\"");
  End("rect", tooltip);
}

void Svg::Circle(Point center, double radius, std::string_view css_class,
                 std::string_view tooltip) {
  text_ +=
      Concat("<circle class=\"", css_class, "\" cx=\"", Number(center.x),
             "\" cy=\"", Number(center.y), "\" r=\"", Number(radius), "\"");
  End("circle", tooltip);
}

void Svg::Curve(const std::vector<Point>& points, std::string_view css_class,
                std::string_view tooltip) {
  std::string path;
  bool is_first = true;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!IsNumber(points[i])) {
      is_first = true;
      continue;
    }
    path += is_first ? 'M' : 'L';
    path += Number(points[i].x);
    path += ' ';
    path += Number(points[i].y);
    // A point between gaps is a dot.
    const bool is_last = i + 1 == points.size() || !IsNumber(points[i + 1]);
    if (is_first && is_last) path += "h0.1";
    is_first = false;
  }
  if (path.empty()) return;
  text_ += Concat("<path class=\"", css_class, "\" d=\"", path, "\"");
  End("path", tooltip);
}

void Svg::Polygon(const std::vector<Point>& points, std::string_view css_class,
                  std::string_view tooltip) {
  text_ += Concat("<polygon class=\"", css_class, "\" points=\"");
  for (const Point& point : points) {
    text_ += Number(point.x);
    text_ += ',';
    text_ += Number(point.y);
    text_ += ' ';
  }
  text_ += '"';
  End("polygon", tooltip);
}

}  // namespace caffe
