#ifndef CAFFE_SRC_LAYERS_LOG_BASE_HPP_
#define CAFFE_SRC_LAYERS_LOG_BASE_HPP_

#include <cmath>

#include "caffe/error.hpp"

namespace caffe {

// The natural logarithm of the base that Exp and Log are given; -1 stands for
// e. Throws Error for what is no base.
inline double LogOfBase(float base) {
  if (base == -1) return 1;
  Require(base > 0 && std::isfinite(base),
          "its base must be above 0, or -1 for e, not ", base);
  return std::log(static_cast<double>(base));
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_LOG_BASE_HPP_
