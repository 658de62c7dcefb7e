#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "caffe/util/io.hpp"

// The images of io.hpp, through OpenCV.

namespace caffe {

namespace {

bool ReadFile(const string& filename, string* bytes) {
  std::ifstream file(filename, std::ios::binary);
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  const bool read = file.is_open() && !file.bad() && !bytes->empty();
  LOG_IF(ERROR, !read) << "cannot read " << filename;
  return read;
}

// The decoder fills up a JPEG that was cut short with grey and says nothing. A
// whole one has an end-of-image marker behind its last start of scan; neither
// occurs within a scan.
bool IsCutShort(const string& bytes) {
  if (!bytes.starts_with("\xff\xd8")) return false;
  const size_t scan = bytes.rfind("\xff\xda");
  const size_t end = bytes.rfind("\xff\xd9");
  return scan == string::npos || end == string::npos || end < scan;
}

// Empty when the bytes are not a whole image.
cv::Mat Decode(const string& bytes, int flags) {
  if (bytes.empty() || bytes.size() > INT_MAX || IsCutShort(bytes)) return {};
  const cv::Mat view(1, static_cast<int>(bytes.size()), CV_8UC1,
                     const_cast<char*>(bytes.data()));
  try {
    return cv::imdecode(view, flags);
  } catch (const cv::Exception&) {
    return {};  // Extents beyond what OpenCV allows, for example.
  }
}

int ColourFlag(bool is_color) {
  return is_color ? cv::IMREAD_COLOR : cv::IMREAD_GRAYSCALE;
}

cv::Mat DecodeOrFail(const Datum& datum, int flags) {
  CHECK(datum.encoded()) << "Datum not encoded";
  cv::Mat image = Decode(datum.data(), flags);
  Require(!image.empty(), "an encoded image of ", datum.data().size(),
          " bytes is damaged or cut short");
  return image;
}

void Encode(const cv::Mat& image, const string& encoding, Datum* datum) {
  vector<uchar> bytes;
  bool encoded = false;
  try {
    encoded = cv::imencode("." + encoding, image, bytes);
  } catch (const cv::Exception&) {
  }
  Require(encoded, "cannot encode an image as \"", encoding, "\"");
  datum->set_data(bytes.data(), bytes.size());
  datum->set_encoded(true);
}

// Whether the file's name says that it is in the encoding already.
bool HasEncoding(const string& filename, string encoding) {
  const auto lower = [](string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return text == "jpeg" ? "jpg" : text;
  };
  const size_t dot = filename.rfind('.');
  return dot != string::npos &&
         lower(filename.substr(dot + 1)) == lower(std::move(encoding));
}

}  // namespace

bool ReadFileToDatum(const string& filename, const int label, Datum* datum) {
  string bytes;
  if (!ReadFile(filename, &bytes)) return false;
  datum->Clear();
  datum->set_data(std::move(bytes));
  datum->set_label(label);
  datum->set_encoded(true);
  return true;
}

bool ReadImageToDatum(const string& filename, const int label, const int height,
                      const int width, const bool is_color,
                      const std::string& encoding, Datum* datum) {
  // Decoded in any case: what is not an image must not get into a database.
  const cv::Mat image = ReadImageToCVMat(filename, height, width, is_color);
  if (image.empty()) return false;
  if (encoding.empty()) {
    CVMatToDatum(image, datum);
  } else if (height <= 0 && width <= 0 && HasEncoding(filename, encoding)) {
    return ReadFileToDatum(filename, label, datum);
  } else {
    datum->Clear();
    Encode(image, encoding, datum);
  }
  datum->set_label(label);
  return true;
}

bool DecodeDatumNative(Datum* datum) {
  if (!datum->encoded()) return false;
  CVMatToDatum(DecodeDatumToCVMatNative(*datum), datum);
  return true;
}

bool DecodeDatum(Datum* datum, bool is_color) {
  if (!datum->encoded()) return false;
  CVMatToDatum(DecodeDatumToCVMat(*datum, is_color), datum);
  return true;
}

cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width, const bool is_color, int* img_height,
                         int* img_width) {
  string bytes;
  if (!ReadFile(filename, &bytes)) return {};
  cv::Mat image = Decode(bytes, ColourFlag(is_color));
  if (image.empty()) {
    LOG(ERROR) << filename << " is damaged, cut short or not an image";
    return image;
  }
  if (img_height != nullptr) *img_height = image.rows;
  if (img_width != nullptr) *img_width = image.cols;
  if (height <= 0 || width <= 0) return image;
  cv::Mat resized;
  cv::resize(image, resized, cv::Size(width, height));
  return resized;
}

cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width, const bool is_color) {
  return ReadImageToCVMat(filename, height, width, is_color, nullptr, nullptr);
}

cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width) {
  return ReadImageToCVMat(filename, height, width, true);
}

cv::Mat ReadImageToCVMat(const string& filename, const bool is_color) {
  return ReadImageToCVMat(filename, 0, 0, is_color);
}

cv::Mat ReadImageToCVMat(const string& filename) {
  return ReadImageToCVMat(filename, 0, 0, true);
}

cv::Mat DecodeDatumToCVMatNative(const Datum& datum) {
  return DecodeOrFail(datum, cv::IMREAD_UNCHANGED);
}

cv::Mat DecodeDatumToCVMat(const Datum& datum, bool is_color) {
  return DecodeOrFail(datum, ColourFlag(is_color));
}

void CVMatToDatum(const cv::Mat& cv_img, Datum* datum) {
  Require(cv_img.depth() == CV_8U,
          "an image does not have 8 bits a channel, as a datum needs");
  const int channels = cv_img.channels();
  datum->set_channels(channels);
  datum->set_height(cv_img.rows);
  datum->set_width(cv_img.cols);
  datum->clear_float_data();
  datum->set_encoded(false);
  // Pixel after pixel in the image, channel after channel in the datum.
  string pixels(cv_img.total() * channels, '\0');
  const size_t plane = cv_img.total();
  size_t at = 0;
  for (int row = 0; row < cv_img.rows; ++row) {
    const uchar* in = cv_img.ptr<uchar>(row);
    for (int column = 0; column < cv_img.cols; ++column, ++at) {
      for (int c = 0; c < channels; ++c) {
        pixels[c * plane + at] = static_cast<char>(*in++);
      }
    }
  }
  datum->set_data(std::move(pixels));
}

}  // namespace caffe
