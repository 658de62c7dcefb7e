#ifndef CAFFE_SRC_LAYERS_WINDOW_SETTINGS_HPP_
#define CAFFE_SRC_LAYERS_WINDOW_SETTINGS_HPP_

#include <cstdint>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

// The windows that a kernel moves over, as Convolution, Deconvolution and
// Im2col read them from convolution_param.
namespace caffe {

// Each has one entry a spatial axis.
struct WindowSettings {
  vector<int> kernel;
  vector<int> stride;
  vector<int> pad;
  vector<int> dilation;
};

// Throws Error when a setting is given in two ways, for another number of
// axes, or out of range.
WindowSettings ReadWindowSettings(const ConvolutionParameter& param, int axes);

// Values of an axis that a kernel covers.
inline int64_t WindowExtent(int kernel, int dilation) {
  return int64_t{dilation} * (kernel - 1) + 1;
}

// The places that windows of that extent have along an axis. Throws Error when
// there is none.
int64_t CountWindows(int spatial_axis, int extent, int64_t window, int stride,
                     int pad);

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_WINDOW_SETTINGS_HPP_
