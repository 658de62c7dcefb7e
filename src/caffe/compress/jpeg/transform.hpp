#ifndef CAFFE_SRC_COMPRESS_JPEG_TRANSFORM_HPP_
#define CAFFE_SRC_COMPRESS_JPEG_TRANSFORM_HPP_

#include <cstddef>
#include <cstdint>

#include "compress/jpeg/tables.hpp"

// The cosine transform of 8x8 tiles for the best SIMD target of the machine.
// All targets give the same bits.
namespace caffe::codec::jpeg {

struct Transform {
  // Values times `scale`, transformed and quantised. Rows of values are
  // `stride` apart. Returns which coefficients are not zero.
  uint64_t (*forward)(const float* values, size_t stride, float scale,
                      const Steps& steps, int16_t* coefficients);
  void (*inverse)(const int16_t* coefficients, const Steps& steps, float scale,
                  float* values, size_t stride);
};

const Transform& BestTransform();

}  // namespace caffe::codec::jpeg

#endif  // CAFFE_SRC_COMPRESS_JPEG_TRANSFORM_HPP_
