#ifndef CAFFE_SRC_CPU_SHARED_EXPONENT_HPP_
#define CAFFE_SRC_CPU_SHARED_EXPONENT_HPP_

#include <cstdint>

// Values in a byte each, and an exponent for every group of 64 neighbours:
//
//   value i = levels[i] * 2^(exponents[i / 64] - 127)
//
// Levels are from -127 to 127, and the exponent is the least that allows for
// the largest value of the group. Values between two levels become either, the
// nearer one more often, so that errors have a mean of zero; what is a level
// stays one. So to pack what has been unpacked gives the same values.
//
// A group with infinities or NaN becomes NaN, and so does one with values of
// 2^127 and more.
namespace caffe::cpu {

constexpr int kExponentGroup = 64;

// Packs n values, of which the first is the first of group `first_group` of its
// array: there, and with the same seed, roundings are the same.
template <typename Dtype>
void PackSharedExponent(int64_t n, const Dtype* values, uint32_t seed,
                        int64_t first_group, int8_t* levels,
                        uint8_t* exponents);

template <typename Dtype>
void UnpackSharedExponent(int64_t n, const int8_t* levels,
                          const uint8_t* exponents, Dtype* values);

// The sum of the absolute values.
double AbsoluteSumOfPacked(int64_t n, const int8_t* levels,
                           const uint8_t* exponents);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_SHARED_EXPONENT_HPP_
