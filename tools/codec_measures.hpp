#ifndef CAFFE_TOOLS_CODEC_MEASURES_HPP_
#define CAFFE_TOOLS_CODEC_MEASURES_HPP_

#include "caffe/compress/codec.hpp"
#include "tensor_file.hpp"

namespace caffe {

// Of the finite values; 0 when there are none.
double StandardDeviation(const Tensor& tensor);

// What compression did to a tensor.
struct Errors {
  // Of finite values.
  double largest = 0;
  double mean_square = 0;
  // The part of the zeros that still are zeros; 1 when there were none.
  double zeros_kept = 1;
};
// REQUIRES: both have the same shape and type.
Errors Compare(const Tensor& before, const Tensor& after);

// Decompresses into the tensor's memory.
void DecompressInto(const codec::Codec& codec, std::span<const uint8_t> frame,
                    const codec::ImageRange& range, codec::Context& context,
                    Tensor* tensor);

}  // namespace caffe

#endif  // CAFFE_TOOLS_CODEC_MEASURES_HPP_
