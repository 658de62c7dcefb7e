#include "layers/window_settings.hpp"

#include <google/protobuf/repeated_field.h>

#include <optional>

namespace caffe {

namespace {

// A setting with a value for every spatial axis, as a prototxt gives it: once,
// once for each axis, as _h and _w for two axes, or not at all.
struct AxisSetting {
  const char* name;
  const google::protobuf::RepeatedField<uint32_t>& values;
  bool has_pair;
  uint32_t h;
  uint32_t w;
  // What it is when not given, if it need not be.
  std::optional<int> otherwise;
  int least;

  vector<int> PerAxis(int axes) const {
    vector<int> result;
    for (const uint32_t value : Given(axes)) {
      Require(value >= static_cast<uint32_t>(least) && value <= INT_MAX, name,
              " must be from ", least, " to ", INT_MAX, ", not ", value);
      result.push_back(static_cast<int>(value));
    }
    if (result.size() != axes) {
      const int for_all = result.empty() ? otherwise.value_or(0) : result[0];
      result.assign(axes, for_all);
    }
    return result;
  }

 private:
  vector<uint32_t> Given(int axes) const {
    if (has_pair) {
      Require(axes == 2, name, " by _h and _w needs 2 spatial axes, not ",
              axes);
      Require(values.empty(), name,
              " must be given by its own name or by _h and _w, not by both");
      return {h, w};
    }
    const bool may_miss = otherwise.has_value() || axes == 0;
    Require(!values.empty() || may_miss, name, " must be given");
    Require(values.size() <= 1 || values.size() == axes, name,
            " must be given once, or once for each of the ", axes,
            " spatial axes, not ", values.size(), " times");
    return {values.begin(), values.end()};
  }
};

}  // namespace

WindowSettings ReadWindowSettings(const ConvolutionParameter& param, int axes) {
  const AxisSetting kernel_setting{
      .name = "kernel_size",
      .values = param.kernel_size(),
      .has_pair = param.has_kernel_h() || param.has_kernel_w(),
      .h = param.kernel_h(),
      .w = param.kernel_w(),
      .otherwise = std::nullopt,
      .least = 1};
  const AxisSetting stride_setting{
      .name = "stride",
      .values = param.stride(),
      .has_pair = param.has_stride_h() || param.has_stride_w(),
      .h = param.stride_h(),
      .w = param.stride_w(),
      .otherwise = 1,
      .least = 1};
  const AxisSetting pad_setting{
      .name = "pad",
      .values = param.pad(),
      .has_pair = param.has_pad_h() || param.has_pad_w(),
      .h = param.pad_h(),
      .w = param.pad_w(),
      .otherwise = 0,
      .least = 0};
  const AxisSetting dilation_setting{.name = "dilation",
                                     .values = param.dilation(),
                                     .has_pair = false,
                                     .h = 1,
                                     .w = 1,
                                     .otherwise = 1,
                                     .least = 1};
  return {kernel_setting.PerAxis(axes), stride_setting.PerAxis(axes),
          pad_setting.PerAxis(axes), dilation_setting.PerAxis(axes)};
}

int64_t CountWindows(int spatial_axis, int extent, int64_t window, int stride,
                     int pad) {
  const int64_t padded = extent + 2 * int64_t{pad};
  Require(window <= padded, "a kernel that covers ", window,
          " values of spatial axis ", spatial_axis, " does not fit into ",
          padded, ", padding included");
  return (padded - window) / stride + 1;
}

}  // namespace caffe
