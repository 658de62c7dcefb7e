#ifndef CAFFE_SRC_CPU_LRN_HPP_
#define CAFFE_SRC_CPU_LRN_HPP_

#include <cstdint>

// Local response normalization: out = in * scale ^ -beta, where scale = k +
// alpha * (sum of the squares of the inputs in a window about the value).
// Backward computes it again. Results do not depend on the number of threads.
namespace caffe::cpu {

// REQUIRES: the window's size is odd.
template <typename Dtype>
struct LrnSettings {
  int64_t size = 1;
  Dtype alpha = 1;
  Dtype beta = 0;
  Dtype k = 1;
};

// Arrays of (num, channels, height, width) values.
struct LrnShape {
  int64_t num = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;

  int64_t plane() const { return height * width; }
};

// The window is `size` channels at the same place of the image. `out` may be
// `in`, and in_diff out_diff.
template <typename Dtype>
void LrnAcrossChannels(const LrnShape& shape,
                       const LrnSettings<Dtype>& settings, const Dtype* in,
                       Dtype* out);
template <typename Dtype>
void LrnAcrossChannelsBackward(const LrnShape& shape,
                               const LrnSettings<Dtype>& settings,
                               const Dtype* in, const Dtype* out_diff,
                               Dtype* in_diff);

// The window is `size` rows and columns of the same channel. `out` may be `in`,
// and in_diff out_diff.
template <typename Dtype>
void LrnWithinChannel(const LrnShape& shape, const LrnSettings<Dtype>& settings,
                      const Dtype* in, Dtype* out);
template <typename Dtype>
void LrnWithinChannelBackward(const LrnShape& shape,
                              const LrnSettings<Dtype>& settings,
                              const Dtype* in, const Dtype* out_diff,
                              Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_LRN_HPP_
