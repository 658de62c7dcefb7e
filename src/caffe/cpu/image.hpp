#ifndef CAFFE_SRC_CPU_IMAGE_HPP_
#define CAFFE_SRC_CPU_IMAGE_HPP_

#include <cstdint>

namespace caffe::cpu {

// How many values an image has along each axis.
struct ImageSize {
  int channels = 0;
  int height = 0;
  int width = 0;
};

// Where the values of an image lie: value (c, h, w) is data[c * channel +
// h * row + w * column]. Planar and interleaved pixels, crops, mirror images
// and constants all are views. Owns nothing.
template <typename T>
struct ImageView {
  T* data = nullptr;
  int64_t channel = 0;
  int64_t row = 0;
  int64_t column = 0;
};

// Channel after channel, as in blobs.
template <typename T>
ImageView<T> Planar(T* data, int height, int width) {
  return {data, int64_t{height} * width, width, 1};
}

// Pixel after pixel, as in image files; `row` values from one row to the next.
template <typename T>
ImageView<T> Interleaved(T* data, int channels, int64_t row) {
  return {data, 1, row, channels};
}

// The part of the image that starts at that row and column.
template <typename T>
ImageView<T> Crop(const ImageView<T>& image, int top, int left) {
  ImageView<T> crop = image;
  crop.data += top * image.row + left * image.column;
  return crop;
}

// The image from right to left.
template <typename T>
ImageView<T> Mirror(const ImageView<T>& image, int width) {
  ImageView<T> mirror = image;
  mirror.data += (width - 1) * image.column;
  mirror.column = -image.column;
  return mirror;
}

// target = source for all values of an image of that size; rows of the target
// are without gaps.
void CopyImage(const ImageSize& size, const ImageView<const uint8_t>& source,
               const ImageView<uint8_t>& target);

// target = (source - mean) * scale for all values of an image of that size.
template <typename Pixel, typename Dtype>
void NormalizeImage(const ImageSize& size, const ImageView<const Pixel>& source,
                    const ImageView<const Dtype>& mean, Dtype scale,
                    const ImageView<Dtype>& target);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_IMAGE_HPP_
