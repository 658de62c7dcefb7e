#include "codec_measures.hpp"

#include <algorithm>
#include <cmath>

namespace caffe {

double StandardDeviation(const Tensor& tensor) {
  return tensor.Visit([](auto values) {
    // About the first value, so that large means do no harm.
    double origin = 0, sum = 0, square = 0, count = 0;
    for (const double v : values) {
      if (!std::isfinite(v)) continue;
      if (count == 0) origin = v;
      sum += v - origin;
      square += (v - origin) * (v - origin);
      ++count;
    }
    if (count == 0) return 0.0;
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, square / count - mean * mean));
  });
}

Errors Compare(const Tensor& before, const Tensor& after) {
  return before.Visit([&](auto values) {
    using T = std::remove_cv_t<typename decltype(values)::element_type>;
    const auto restored = after.Values<T>();
    Errors errors;
    double finite = 0, zeros = 0, kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == T(0)) {
        ++zeros;
        kept += restored[i] == T(0) ? 1 : 0;
      }
      if (!std::isfinite(values[i])) continue;
      const double error = std::abs(double{restored[i]} - double{values[i]});
      errors.largest = std::max(errors.largest, error);
      errors.mean_square += error * error;
      ++finite;
    }
    if (finite > 0) errors.mean_square /= finite;
    if (zeros > 0) errors.zeros_kept = kept / zeros;
    return errors;
  });
}

void DecompressInto(const codec::Codec& codec, std::span<const uint8_t> frame,
                    const codec::ImageRange& range, codec::Context& context,
                    Tensor* tensor) {
  if (tensor->type() == codec::DataType::kFloat32) {
    codec.Decompress(frame, range, context, tensor->MutableValues<float>());
  } else {
    codec.Decompress(frame, range, context, tensor->MutableValues<double>());
  }
}

}  // namespace caffe
