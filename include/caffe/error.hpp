#ifndef CAFFE_ERROR_HPP_
#define CAFFE_ERROR_HPP_

#include <sstream>
#include <stdexcept>
#include <string>

namespace caffe {

// Bad data: a prototxt, a database, a weights file, a frame that cannot be
// used. The message is one sentence for the user. It is thrown where the cause
// is known; whoever knows more (the layer, the file) puts its name in front and
// throws on. Bugs, and users' own layers, use CHECK instead, which aborts.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The parts written one after the other.
template <typename... Parts>
std::string Concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// Throws Error with the parts written one after the other.
template <typename... Parts>
[[noreturn]] void Fail(const Parts&... parts) {
  throw Error(Concat(parts...));
}

// Throws Error with the parts written one after the other unless `holds`.
// The parts are evaluated in any case: keep calls out of hot loops.
template <typename... Parts>
void Require(bool holds, const Parts&... parts) {
  if (!holds) Fail(parts...);
}

}  // namespace caffe

#endif  // CAFFE_ERROR_HPP_
