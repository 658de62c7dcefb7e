#ifndef CAFFE_TEST_CODEC_TENSORS_HPP_
#define CAFFE_TEST_CODEC_TENSORS_HPP_

#include <boost/random/mersenne_twister.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "caffe/compress/codec.hpp"

// Tensors for codec tests, from a seed: all kinds of values and shapes that
// activations may have, and some that they never should.
namespace caffe::codec {

template <typename T>
struct TestTensor {
  Shape shape;
  std::vector<T> values;

  ConstTensor view() const { return {values.data(), shape}; }
};

class TensorGenerator {
 public:
  explicit TensorGenerator(uint32_t seed) : rng_(seed) {}

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }
  double Uniform() { return rng_() / 4294967296.0; }
  // About normal.
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }

  // Any number of axes, the last one longest, about up to `values` in all.
  Shape RandomShape(int64_t values) {
    const int axes = static_cast<int>(1 + Below(Shape::kMaxAxes));
    std::vector<int64_t> extents(axes, 1);
    int64_t count = 1;
    for (int i = axes; i-- > 0;) {
      const auto room = static_cast<uint32_t>(
          std::min<int64_t>(values / count, i + 1 == axes ? 200 : 20));
      if (room > 1) extents[i] = 1 + Below(room);
      count *= extents[i];
    }
    return Shape(std::span<const int64_t>(extents));
  }

  enum Kind {
    kNoise,
    kRelu,
    kSmooth,
    kSmoothRelu,
    kConstant,
    kRamp,
    kZeros,
    kSparse,
    kHuge,
    kDenormal,
    kWild,
    kKinds
  };

  template <typename T>
  TestTensor<T> Tensor(Kind kind, const Shape& shape) {
    TestTensor<T> tensor{shape, std::vector<T>(shape.count())};
    const auto row = static_cast<size_t>(
        shape.axes > 0 ? std::max<int64_t>(1, shape.extent[shape.axes - 1])
                       : 1);
    const double scale = std::exp(8 * Normal() / 2);
    const double level = Normal();
    std::vector<T>& v = tensor.values;
    for (size_t i = 0; i < v.size(); ++i) {
      const double left = i > 0 ? v[i - 1] / scale : 0;
      const double above = i >= row ? v[i - row] / scale : left;
      const double smooth = 0.48 * (left + above) + 0.1 * Normal();
      double x = 0;
      switch (kind) {
        case kNoise:
          x = Normal();
          break;
        case kRelu:
          x = std::max(0.0, Normal());
          break;
        case kSmooth:
          x = smooth;
          break;
        case kSmoothRelu:
          x = std::max(0.0, smooth + 0.02);
          break;
        case kConstant:
          x = level;
          break;
        case kRamp:
          x = 0.01 * static_cast<double>(i);
          break;
        case kSparse:
          x = Below(50) == 0 ? Normal() : 0;
          break;
        case kHuge:
          v[i] = static_cast<T>(Normal() * 1e37);
          continue;
        case kDenormal:
          v[i] = static_cast<T>(std::numeric_limits<T>::denorm_min() *
                                static_cast<T>(Below(1000)));
          continue;
        case kWild:
          v[i] = Wild<T>();
          continue;
        default:
          break;
      }
      v[i] = static_cast<T>(x * scale);
    }
    return tensor;
  }

  template <typename T>
  TestTensor<T> RandomTensor(int64_t values) {
    return Tensor<T>(static_cast<Kind>(Below(kKinds)), RandomShape(values));
  }

  // A bound that makes sense for the values, or one that does not.
  template <typename T>
  double RandomBound(const std::vector<T>& values) {
    double sum = 0;
    for (const T v : values) {
      const double size = std::abs(static_cast<double>(v));
      if (size < 1e30) sum += size;
    }
    const double mean = sum / static_cast<double>(values.size() + 1);
    switch (Below(12)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<float>::denorm_min();
      case 2:
        return 1e-30;
      case 3:
        return 1e30;
      case 4:
        return std::numeric_limits<double>::infinity();
      default:
        return mean * std::exp(-6 * Uniform());
    }
  }

 private:
  // Infinities, numbers that are none (with all kinds of payloads), zeros of
  // both signs, and any other bits.
  template <typename T>
  T Wild() {
    switch (Below(6)) {
      case 0:
        return std::numeric_limits<T>::infinity();
      case 1:
        return -std::numeric_limits<T>::infinity();
      case 2:
        return T(0);
      case 3:
        return -T(0);
      case 4:
        return static_cast<T>(Normal());
      default:
        break;
    }
    uint64_t bits = uint64_t{rng_()} << 32 | rng_();
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }

  boost::mt19937 rng_;
};

}  // namespace caffe::codec

#endif  // CAFFE_TEST_CODEC_TENSORS_HPP_
