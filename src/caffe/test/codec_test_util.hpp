#ifndef CAFFE_TEST_CODEC_TEST_UTIL_HPP_
#define CAFFE_TEST_CODEC_TEST_UTIL_HPP_

#include <omp.h>

#include <vector>

#include "caffe/compress/codec.hpp"
#include "codec_tensors.hpp"
#include "hwy/targets.h"

namespace caffe::codec {

template <typename T>
std::vector<uint8_t> Pack(const Codec& codec, const TestTensor<T>& tensor,
                          const Settings& settings) {
  Context context;
  const ConstTensor in = tensor.view();
  std::vector<uint8_t> frame(codec.MaxBytes(in.shape, in.type));
  frame.resize(codec.Compress(in, settings, context, frame));
  return frame;
}

template <typename T>
std::vector<T> Unpack(const Codec& codec, const std::vector<uint8_t>& frame,
                      size_t values, ImageRange range = {}) {
  Context context;
  std::vector<T> out(values);
  codec.Decompress(frame, range, context, std::span<T>(out));
  return out;
}

// Both levels and both roundings.
inline std::vector<Settings> AllSettings(double bound) {
  std::vector<Settings> all;
  for (const Level level : {Level::kFast, Level::kDense}) {
    for (const Rounding rounding : {Rounding::kNearest, Rounding::kDither}) {
      Settings settings;
      settings.bound = bound;
      settings.level = level;
      settings.rounding = rounding;
      settings.seed = 42;
      all.push_back(settings);
    }
  }
  return all;
}

// Runs body(flipped, bit) for the frame with each of its bits flipped.
template <typename Body>
void ForFlips(std::vector<uint8_t> frame, const Body& body) {
  for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    frame[bit / 8] ^= 1u << bit % 8;
    body(frame, bit);
    frame[bit / 8] ^= 1u << bit % 8;
  }
}

// Runs body(name) with each SIMD target this machine has.
template <typename Body>
void ForEachTarget(const Body& body) {
  int64_t targets = hwy::SupportedTargets();
  while (targets != 0) {
    const int64_t target = targets & -targets;
    targets &= targets - 1;
    hwy::SetSupportedTargetsForTest(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Runs `body` with that many threads.
template <typename Body>
void WithThreads(int threads, const Body& body) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  body();
  omp_set_num_threads(before);
}

}  // namespace caffe::codec

#endif  // CAFFE_TEST_CODEC_TEST_UTIL_HPP_
