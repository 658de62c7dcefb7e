#ifndef CAFFE_TOOLS_MNIST_FILES_HPP_
#define CAFFE_TOOLS_MNIST_FILES_HPP_

#include <cstdint>
#include <fstream>
#include <string>

namespace caffe {

// A file of the idx format: big-endian numbers, then bytes. Throws Error, which
// names the file, for all that is wrong with it.
class IdxFile {
 public:
  explicit IdxFile(const std::string& name);

  uint32_t ReadNumber();
  void ReadMagic(uint32_t magic, const char* what);
  int ReadExtent();
  void Read(char* bytes, size_t count);

 private:
  const std::string name_;
  std::ifstream file_;
};

// Images and their labels, in the two files that MNIST has for them.
class MnistFiles {
 public:
  MnistFiles(const std::string& image_file, const std::string& label_file);

  int count() const { return count_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

  // Writes the next image's rows * columns bytes and returns its label.
  int ReadNext(char* pixels);

 private:
  IdxFile images_;
  IdxFile labels_;
  int count_ = 0;
  int rows_ = 0;
  int columns_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_TOOLS_MNIST_FILES_HPP_
