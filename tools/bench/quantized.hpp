#ifndef CAFFE_TOOLS_BENCH_QUANTIZED_HPP_
#define CAFFE_TOOLS_BENCH_QUANTIZED_HPP_

#include <cstdint>
#include <span>
#include <vector>

#include "bench/contender.hpp"

namespace caffe {

// The values of a tensor as multiples of twice the bound, rounded to the
// nearest: what simple rivals compress.
std::vector<int32_t> Quantize(std::span<const float> values, double bound);

// Codes as planes of bytes: all lowest bytes, then, where one plane does not
// hold them, all next ones. Codes that need more than two lose; no activation
// has them.
class BytePlanes {
 public:
  // Returns the number of planes.
  int Split(std::span<const float> values, double bound);
  // Restores the values of `planes` planes in bytes().
  void Join(int planes, double bound, std::span<float> values) const;

  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace caffe

#endif  // CAFFE_TOOLS_BENCH_QUANTIZED_HPP_
