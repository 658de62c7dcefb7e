#ifndef CAFFE_SRC_UTIL_SYSTEM_ERROR_HPP_
#define CAFFE_SRC_UTIL_SYSTEM_ERROR_HPP_

#include <string>
#include <system_error>

namespace caffe {

// What the system says about an errno, such as "No space left on device".
inline std::string SystemMessage(int error) {
  return std::generic_category().message(error);
}

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_SYSTEM_ERROR_HPP_
