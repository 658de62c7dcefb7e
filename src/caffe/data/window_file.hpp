#ifndef CAFFE_SRC_DATA_WINDOW_FILE_HPP_
#define CAFFE_SRC_DATA_WINDOW_FILE_HPP_

#include <string>
#include <vector>

// Windows of images, as R-CNN samples them.

namespace caffe {

// A rectangle of an image, both ends included, that may reach over its edges.
struct ImageWindow {
  size_t image = 0;  // Which of the file's images.
  int label = 0;
  float overlap = 0;  // With the object of that label.
  int x1 = 0;
  int y1 = 0;
  int x2 = 0;
  int y2 = 0;
};

struct WindowFile {
  int channels = 0;  // The same for all images.
  std::vector<std::string> images;
  std::vector<ImageWindow> windows;
};

// Reads a window file. It has for every image
//
//   # index
//   path
//   channels
//   height
//   width
//   number of windows
//
// and then for every window of the image
//
//   label overlap x1 y1 x2 y2
//
// Throws Error, naming the file and the image, when it is not like this.
WindowFile ReadWindowFile(const std::string& filename);

// Which part of an image is resized to what size and put where in a square
// crop; the rest of the crop is padding.
struct WindowPlacement {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  int resized_width = 0;
  int resized_height = 0;
  int left = 0;
  int top = 0;
};

// How a window of an image of that size comes into a crop: with context_pad
// pixels of its surroundings on every side, as a square around the window
// (`square`) or warped to one. Throws Error when nothing of it is in the image,
// or, when neither pad nor square is asked for, not all.
// REQUIRES: 2 * context_pad < crop_size.
WindowPlacement PlaceWindow(const ImageWindow& window, int image_width,
                            int image_height, int crop_size, int context_pad,
                            bool square, bool mirrored);

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_WINDOW_FILE_HPP_
