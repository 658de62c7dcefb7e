#include "data/window_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "caffe/error.hpp"

namespace caffe {

namespace {

// Far beyond any image; keeps sums of coordinates within an int.
constexpr int kMaxCoordinate = 1 << 24;

bool IsSane(const ImageWindow& window) {
  for (const int value : {window.x1, window.y1, window.x2, window.y2}) {
    if (value < -kMaxCoordinate || value > kMaxCoordinate) return false;
  }
  return window.x1 <= window.x2 && window.y1 <= window.y2;
}

// Reads what follows "# index".
void ReadImage(std::istream& file, WindowFile* contents) {
  std::string path;
  int channels = 0;
  int height = 0;
  int width = 0;
  int count = 0;
  file >> path >> channels >> height >> width >> count;
  Require(!file.fail() && count >= 0,
          "expected a path, channels, height, width and the number of windows");
  Require(channels == 1 || channels == 3, "an image cannot have ", channels,
          " channels, only 1 or 3");
  Require(contents->images.empty() || contents->channels == channels, "it has ",
          channels, " channel(s), and the ones before have ",
          contents->channels);
  contents->channels = channels;
  contents->images.push_back(path);
  for (int i = 0; i < count; ++i) {
    ImageWindow window;
    window.image = contents->images.size() - 1;
    file >> window.label >> window.overlap >> window.x1 >> window.y1 >>
        window.x2 >> window.y2;
    Require(!file.fail() && IsSane(window), "window ", i, " of ", count,
            " is not a label, an overlap and x1 y1 x2 y2");
    contents->windows.push_back(window);
  }
}

// One axis of a window: what is seen of it, and where that goes.
struct Span {
  int begin = 0;
  int size = 0;
  int resized = 0;
  int before = 0;
  int after = 0;
};

// `first` and `last` may reach over the edges of an axis of that size.
Span PlaceSpan(int first, int last, int axis_size, int crop_size) {
  const double scale = static_cast<double>(crop_size) / (last - first + 1);
  const int before = std::max(0, -first);
  const int after = std::max(0, last - axis_size + 1);
  Span span;
  span.begin = first + before;
  span.size = last - after - span.begin + 1;
  Require(span.size > 0, "nothing of it is in the image");
  const auto scaled = [scale](int n) {
    return static_cast<int>(std::round(n * scale));
  };
  span.before = scaled(before);
  span.after = scaled(after);
  span.resized = std::max(1, scaled(span.size));
  return span;
}

// Rounding may push the end over the crop's.
void FitInto(int crop_size, int* begin, int* size) {
  *begin = std::min(*begin, crop_size - 1);
  *size = std::min(*size, crop_size - *begin);
}

}  // namespace

WindowFile ReadWindowFile(const std::string& filename) {
  std::ifstream file(filename);
  Require(file.good(), "cannot read ", filename);
  WindowFile contents;
  std::string mark;
  std::string index;
  while (file >> mark) {
    file >> index;
    try {
      Require(mark == "#" && !file.fail(),
              "expected '# index' of an image, not '", mark, "'");
      ReadImage(file, &contents);
    } catch (const Error& error) {
      Fail("window file ", filename, ", image number ", contents.images.size(),
           ": ", error.what());
    }
  }
  Require(!contents.images.empty(), "window file ", filename,
          " lists no images");
  return contents;
}

WindowPlacement PlaceWindow(const ImageWindow& window, int image_width,
                            int image_height, int crop_size, int context_pad,
                            bool square, bool mirrored) {
  WindowPlacement placement;
  if (context_pad == 0 && !square) {
    Require(window.x1 >= 0 && window.y1 >= 0 && window.x2 < image_width &&
                window.y2 < image_height,
            "it reaches over the edges of the image, which is ", image_width,
            " wide and ", image_height, " high");
    return {window.x1,
            window.y1,
            window.x2 - window.x1 + 1,
            window.y2 - window.y1 + 1,
            crop_size,
            crop_size,
            0,
            0};
  }
  // So much larger that, resized, the window itself is crop_size less the pad.
  const double context =
      static_cast<double>(crop_size) / (crop_size - 2 * context_pad);
  double half_width = (window.x2 - window.x1 + 1) / 2.0;
  double half_height = (window.y2 - window.y1 + 1) / 2.0;
  const double center_x = window.x1 + half_width;
  const double center_y = window.y1 + half_height;
  if (square) half_width = half_height = std::max(half_width, half_height);
  const auto place = [&](double center, double half, int axis_size) {
    return PlaceSpan(static_cast<int>(std::round(center - half * context)),
                     static_cast<int>(std::round(center + half * context)),
                     axis_size, crop_size);
  };
  const Span x = place(center_x, half_width, image_width);
  const Span y = place(center_y, half_height, image_height);
  placement = {x.begin,
               y.begin,
               x.size,
               y.size,
               x.resized,
               y.resized,
               mirrored ? x.after : x.before,
               y.before};
  FitInto(crop_size, &placement.left, &placement.resized_width);
  FitInto(crop_size, &placement.top, &placement.resized_height);
  return placement;
}

}  // namespace caffe
