#ifndef CAFFE_TEST_GOLDEN_FRAMES_HPP_
#define CAFFE_TEST_GOLDEN_FRAMES_HPP_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "caffe/error.hpp"
#include "codec_tensors.hpp"

// What the frames in data/golden were made from: values that are formulas of
// their positions, exact in both types, and settings. Only add to it; a frame
// that was written once stays as it is.
namespace caffe::codec {

enum class GoldenValues {
  kRelu,
  kSmooth,
  kNoise,
  kSparse,
  kSums,
  kWild,
  kHuge,
  kTiny,
  kZeros
};

struct GoldenFrame {
  std::string name;
  std::string codec;
  bool is_double = false;
  GoldenValues values = GoldenValues::kRelu;
  Shape shape;
  Settings settings;
};

// In [-8, 8), without a pattern.
inline double GoldenNoise(uint32_t i) {
  const uint32_t h = (i * 0x9E3779B1u ^ i >> 3) * 0x85EBCA77u;
  return static_cast<int16_t>(h >> 16) / 4096.0;
}

// From 0 up to `period` and down again.
inline double GoldenTriangle(int64_t i, int64_t period) {
  return static_cast<double>(std::abs(i % (2 * period) - period));
}

template <typename T>
T GoldenWild(int64_t i) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0),
                      -T(0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      -Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      -Limits::denorm_min(),
                      T(1),
                      T(-0.375),
                      T(1000),
                      static_cast<T>(GoldenNoise(static_cast<uint32_t>(i)))};
  return values[i * 5 % 14];
}

template <typename T>
T GoldenValue(GoldenValues kind, int64_t i, int64_t row) {
  const double noise = GoldenNoise(static_cast<uint32_t>(i));
  switch (kind) {
    case GoldenValues::kRelu: {
      const double wave =
          GoldenTriangle(i % row, 5) + GoldenTriangle(i / row, 7) - 5.5;
      return static_cast<T>(std::max(0.0, wave / 4 + noise / 64));
    }
    case GoldenValues::kSmooth:
      if (i % 501 == 7) return GoldenWild<T>(i);
      return static_cast<T>(GoldenTriangle(i % row, 12) -
                            GoldenTriangle(i / row, 9) + noise / 8);
    case GoldenValues::kNoise:
      return static_cast<T>(noise);
    case GoldenValues::kSparse:
      // A first part has values here and there, the rest has none.
      return i < 20000 && i % 61 == 0 ? static_cast<T>(noise) : T(0);
    case GoldenValues::kSums:
      // Differences in both directions are 0.
      return static_cast<T>(
          std::trunc(GoldenNoise(static_cast<uint32_t>(i % row))) +
          std::trunc(GoldenNoise(static_cast<uint32_t>(1000 + i / row))));
    case GoldenValues::kWild:
      return GoldenWild<T>(i);
    case GoldenValues::kHuge:
      return static_cast<T>(noise) * (std::numeric_limits<T>::max() / 16);
    case GoldenValues::kTiny:
      return static_cast<T>(i % 50) * std::numeric_limits<T>::denorm_min();
    case GoldenValues::kZeros:
      break;
  }
  return T(0);
}

template <typename T>
TestTensor<T> MakeTensor(const GoldenFrame& golden) {
  const Shape& shape = golden.shape;
  const int64_t row =
      shape.axes > 0 ? std::max<int64_t>(1, shape.extent[shape.axes - 1]) : 1;
  TestTensor<T> tensor{shape, std::vector<T>(shape.count())};
  for (int64_t i = 0; i < shape.count(); ++i) {
    tensor.values[i] = GoldenValue<T>(golden.values, i, row);
  }
  return tensor;
}

// Those of sz with one level and rounding, in one type.
inline void AddSzFrames(Level level, Rounding rounding, bool is_double,
                        std::vector<GoldenFrame>* frames) {
  const auto add = [&](const char* name, GoldenValues values,
                       const Shape& shape, double bound) {
    GoldenFrame golden{
        Concat("sz_", level == Level::kFast ? "fast_" : "dense_",
               rounding == Rounding::kDither ? "dither_" : "nearest_",
               is_double ? "f64_" : "f32_", name),
        "sz",
        is_double,
        values,
        shape,
        Settings()};
    golden.settings.level = level;
    golden.settings.rounding = rounding;
    golden.settings.bound = bound;
    golden.settings.seed = 42;
    frames->push_back(golden);
  };
  add("relu", GoldenValues::kRelu, {2, 3, 11, 13}, 0.05);
  add("smooth", GoldenValues::kSmooth, {2, 60, 45}, 0.25);
  add("low_bits", GoldenValues::kNoise, {5, 41}, 0.003);
  add("wild", GoldenValues::kWild, {70}, 0.1);
  add("blocks", GoldenValues::kSparse, {3, 2, 80, 90}, 0.5);
  add("line", GoldenValues::kSmooth, {300}, 0.25);
  add("sums", GoldenValues::kSums, {2, 34, 50}, 0.5);
  add("exact", GoldenValues::kSparse, {2, 1, 1, 7, 1, 9}, 0);
  add("huge", GoldenValues::kHuge, {2, 50},
      is_double ? std::numeric_limits<double>::infinity() : 3e37);
  add("tiny", GoldenValues::kTiny, {1, 2, 50}, 1e-320);
  add("zeros", GoldenValues::kZeros, {4, 100}, 1);
  add("empty", GoldenValues::kZeros, {3, 0, 2}, 1);
  add("single", GoldenValues::kNoise, {}, 0.01);
  add("no_checksum", GoldenValues::kNoise, {3, 47}, 0.5);
  frames->back().settings.checksum = false;
}

// Those of another codec, in one type.
inline void AddFrames(const std::string& codec, bool is_double,
                      std::vector<GoldenFrame>* frames) {
  const auto add = [&](const char* name, GoldenValues values,
                       const Shape& shape) {
    GoldenFrame golden{Concat(codec, is_double ? "_f64_" : "_f32_", name),
                       codec,
                       is_double,
                       values,
                       shape,
                       Settings()};
    golden.settings.seed = 42;
    if (codec == "shifted") golden.settings.bound = 0.05;
    frames->push_back(golden);
  };
  add("relu", GoldenValues::kRelu, {2, 2, 9, 13});
  add("wild", GoldenValues::kWild, {3, 50});
  if (codec == "csr" || codec == "jpeg") {
    add("blocks", GoldenValues::kSparse, {3, 2, 80, 90});
  }
  if (codec == "jpeg") {  // Has another table for each level.
    add("fast", GoldenValues::kRelu, {1, 2, 9, 13});
    frames->back().settings.level = Level::kFast;
  }
}

inline std::vector<GoldenFrame> GoldenFrames() {
  std::vector<GoldenFrame> frames;
  for (const bool is_double : {false, true}) {
    for (const Level level : {Level::kFast, Level::kDense}) {
      AddSzFrames(level, Rounding::kNearest, is_double, &frames);
      AddSzFrames(level, Rounding::kDither, is_double, &frames);
    }
    for (const char* const codec :
         {"raw", "fp16", "lossless", "bitmask", "q8", "q4", "q2", "zvc", "csr",
          "jpeg", "shifted"}) {
      AddFrames(codec, is_double, &frames);
    }
  }
  return frames;
}

}  // namespace caffe::codec

#endif  // CAFFE_TEST_GOLDEN_FRAMES_HPP_
