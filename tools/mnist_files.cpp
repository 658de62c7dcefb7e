#include "mnist_files.hpp"

#include <array>
#include <climits>

#include "caffe/error.hpp"

namespace caffe {

namespace {

constexpr uint32_t kImageMagic = 2051;
constexpr uint32_t kLabelMagic = 2049;
// Far more than there is in any such file.
constexpr uint32_t kMaxExtent = 1 << 16;

}  // namespace

IdxFile::IdxFile(const std::string& name)
    : name_(name), file_(name, std::ios::binary) {
  Require(file_.good(), "cannot read ", name_);
}

uint32_t IdxFile::ReadNumber() {
  std::array<char, 4> bytes = {};
  Read(bytes.data(), bytes.size());
  uint32_t number = 0;
  for (const char byte : bytes) {
    number = number << 8 | static_cast<uint8_t>(byte);
  }
  return number;
}

void IdxFile::ReadMagic(uint32_t magic, const char* what) {
  const uint32_t found = ReadNumber();
  Require(found == magic, name_, " is not an idx file of ", what,
          ": it starts with ", found, ", not with ", magic,
          " (is it compressed?)");
}

int IdxFile::ReadExtent() {
  const uint32_t extent = ReadNumber();
  Require(extent > 0 && extent <= kMaxExtent, name_, " has images of extent ",
          extent, ", which is out of range");
  return static_cast<int>(extent);
}

void IdxFile::Read(char* bytes, size_t count) {
  file_.read(bytes, static_cast<std::streamsize>(count));
  Require(!file_.fail(), name_, " is cut short");
}

MnistFiles::MnistFiles(const std::string& image_file,
                       const std::string& label_file)
    : images_(image_file), labels_(label_file) {
  images_.ReadMagic(kImageMagic, "images");
  labels_.ReadMagic(kLabelMagic, "labels");
  const uint32_t images = images_.ReadNumber();
  const uint32_t labels = labels_.ReadNumber();
  Require(images == labels, image_file, " has ", images, " images, and ",
          label_file, " has ", labels, " labels");
  Require(images > 0 && images <= INT_MAX, image_file, " has ", images,
          " images");
  count_ = static_cast<int>(images);
  rows_ = images_.ReadExtent();
  columns_ = images_.ReadExtent();
}

int MnistFiles::ReadNext(char* pixels) {
  images_.Read(pixels, size_t(rows_) * columns_);
  char label = 0;
  labels_.Read(&label, 1);
  return static_cast<uint8_t>(label);
}

}  // namespace caffe
