#ifndef CAFFE_UTIL_FORMAT_H_
#define CAFFE_UTIL_FORMAT_H_

#include <iomanip>
#include <sstream>
#include <string>

namespace caffe {

// The number in at least that many characters, filled up with zeros.
inline std::string format_int(int n, int numberOfLeadingZeros = 0) {
  std::ostringstream text;
  text << std::setw(numberOfLeadingZeros) << std::setfill('0') << n;
  return text.str();
}

}  // namespace caffe

#endif  // CAFFE_UTIL_FORMAT_H_
