#ifndef CAFFE_TEST_CONVOLUTION_TEST_UTIL_HPP_
#define CAFFE_TEST_CONVOLUTION_TEST_UTIL_HPP_

#include <google/protobuf/text_format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "cpu/convolution.hpp"

// What the tests of convolution share: layers from text, and the definition to
// compare with.
namespace caffe {

// A layer with the settings in the text, and random weights and bias.
inline LayerParameter ParseConvolution(const std::string& convolution_param) {
  LayerParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "convolution_param { weight_filler { type: 'gaussian' std: 1 } "
      "bias_filler { type: 'gaussian' std: 1 } " +
          convolution_param + "}",
      &param));
  return param;
}

// Counts through all indices of an array, the last axis fastest.
class IndexCounter {
 public:
  explicit IndexCounter(const std::vector<int>& extents)
      : extents_(extents), at_(extents.size()) {
    for (const int extent : extents) done_ = done_ || extent == 0;
  }

  bool done() const { return done_; }
  int operator[](size_t axis) const { return at_[axis]; }

  void Next() {
    for (size_t axis = at_.size(); axis-- > 0;) {
      if (++at_[axis] < extents_[axis]) return;
      at_[axis] = 0;
    }
    done_ = true;
  }

 private:
  std::vector<int> extents_;
  std::vector<int> at_;
  bool done_ = false;
};

inline int64_t ProductOf(const std::vector<int>& extents) {
  int64_t product = 1;
  for (const int extent : extents) product *= extent;
  return product;
}

// Calls visit(input, output, weight) with the positions of every product that
// the convolution of a batch sums up.
template <typename Visit>
void ForAllProducts(const cpu::ConvolutionShape& shape, const Visit& visit) {
  const int in_per_group = shape.in_channels / shape.group;
  const int out_per_group = shape.out_channels / shape.group;
  const int64_t in_size = ProductOf(shape.input);
  const int64_t out_size = ProductOf(shape.output);
  const int64_t kernel_size = ProductOf(shape.kernel);
  const size_t axes = shape.input.size();
  int64_t output = 0;
  for (IndexCounter out(shape.output); !out.done(); out.Next(), ++output) {
    int64_t place = 0;
    for (IndexCounter k(shape.kernel); !k.done(); k.Next(), ++place) {
      int64_t input = 0;
      bool inside = true;
      for (size_t a = 0; a < axes; ++a) {
        const int at =
            out[a] * shape.stride[a] - shape.pad[a] + k[a] * shape.dilation[a];
        inside = inside && at >= 0 && at < shape.input[a];
        input = input * shape.input[a] + at;
      }
      if (!inside) continue;
      for (int n = 0; n < shape.batch; ++n) {
        for (int o = 0; o < shape.out_channels; ++o) {
          for (int i = 0; i < in_per_group; ++i) {
            const int channel = o / out_per_group * in_per_group + i;
            visit((int64_t{n} * shape.in_channels + channel) * in_size + input,
                  (int64_t{n} * shape.out_channels + o) * out_size + output,
                  (int64_t{o} * in_per_group + i) * kernel_size + place);
          }
        }
      }
    }
  }
}

}  // namespace caffe

#endif  // CAFFE_TEST_CONVOLUTION_TEST_UTIL_HPP_
