#ifndef CAFFE_UTIL_COMMA_LIST_HPP_
#define CAFFE_UTIL_COMMA_LIST_HPP_

#include <sstream>
#include <string>
#include <vector>

namespace caffe {

// The entries of a list such as "a, b", without the spaces around them; empty
// ones do not count.
inline std::vector<std::string> SplitAtCommas(const std::string& list) {
  std::vector<std::string> entries;
  std::istringstream stream(list);
  for (std::string entry; std::getline(stream >> std::ws, entry, ',');) {
    entry.erase(entry.find_last_not_of(" \t\r\n") + 1);
    if (!entry.empty()) entries.push_back(entry);
  }
  return entries;
}

}  // namespace caffe

#endif  // CAFFE_UTIL_COMMA_LIST_HPP_
