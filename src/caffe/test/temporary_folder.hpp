#ifndef CAFFE_SRC_TEST_TEMPORARY_FOLDER_HPP_
#define CAFFE_SRC_TEST_TEMPORARY_FOLDER_HPP_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "caffe/util/io.hpp"

namespace caffe {

// A new empty folder that goes, with all that is in it, when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() { MakeTempDir(&path_); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in the folder.
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }
  // The names of all files, in alphabetical order.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

inline std::string ReadWholeFile(const std::string& filename) {
  std::ifstream file(filename, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteWholeFile(const std::string& filename,
                           const std::string& contents) {
  std::ofstream(filename, std::ios::binary) << contents;
}

}  // namespace caffe

#endif  // CAFFE_SRC_TEST_TEMPORARY_FOLDER_HPP_
