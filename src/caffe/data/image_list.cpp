#include "data/image_list.hpp"

#include <charconv>
#include <fstream>

#include "caffe/error.hpp"

namespace caffe {

namespace {

bool ParseLabel(const std::string& text, int* label) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *label);
  return error == std::errc() && stopped == end;
}

}  // namespace

std::vector<std::pair<std::string, int>> ReadImageList(
    const std::string& filename) {
  std::ifstream file(filename);
  Require(file.good(), "cannot read ", filename);
  std::vector<std::pair<std::string, int>> images;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const size_t end = line.find_last_not_of(" \t\r");
    if (end == std::string::npos) continue;
    line.resize(end + 1);
    const size_t space = line.find_last_of(' ');
    int label = 0;
    const bool complete = space != std::string::npos && space > 0 &&
                          ParseLabel(line.substr(space + 1), &label);
    if (!complete) {
      Fail(filename, ":", number, ": \"", line,
           "\" is not an image's path, a space and an integer label");
    }
    images.emplace_back(line.substr(0, space), label);
  }
  Require(!file.bad(), "cannot read ", filename);
  Require(!images.empty(), filename, " lists no images");
  return images;
}

}  // namespace caffe
