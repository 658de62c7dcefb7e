#include "caffe/compress/bound_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/moments.hpp"

namespace caffe {

namespace {

// Eight bits over the range of the values, until more is known.
constexpr double kSafeSteps = 256;

// Every frame of a tensor has its own seed, and so has every frame of the next
// part of the batch.
constexpr uint32_t kSeedsPerPart = 1 << 16;

// Differs between tensors, but not between runs.
uint32_t HashOf(const std::string& name) {
  uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

cpu::Moments MomentsOf(const codec::ConstTensor& tensor) {
  const int64_t count = tensor.shape.count();
  return tensor.type == codec::DataType::kFloat32
             ? cpu::MomentsOf(count, static_cast<const float*>(tensor.data))
             : cpu::MomentsOf(count, static_cast<const double*>(tensor.data));
}

}  // namespace

BoundPolicy::BoundPolicy(const CompressionParameter& param,
                         std::vector<LayerInfo> layers)
    : param_(param),
      layers_(std::move(layers)),
      bounds_(layers_.size(), 0),
      used_bounds_(layers_.size(), 0),
      statistics_(layers_.size()) {}

void BoundPolicy::StartPass(const Pass& pass) {
  pass_ = pass;
  std::fill(used_bounds_.begin(), used_bounds_.end(), 0);
}

double BoundPolicy::BoundFor(const PackRequest& request) {
  const bool is_new =
      std::any_of(request.readers.begin(), request.readers.end(),
                  [&](int reader) { return bounds_[reader] == 0; });
  const bool assesses = pass_.assesses || is_new;
  double safe = 0;
  if (assesses || pass_.verifies) {
    const cpu::Moments moments = MomentsOf(request.values);
    safe = (moments.largest - moments.smallest) / (2 * kSafeSteps);
    for (const int reader : request.readers) {
      statistics_[reader] = {moments.nonzero_fraction, moments.deviation};
      if (assesses && !layers_[reader].is_assessed) {
        bounds_[reader] = param_.error_bound().relative() * moments.deviation;
      }
    }
  }
  double bound = std::numeric_limits<double>::infinity();
  for (const int reader : request.readers) {
    const LayerCompressionParameter& own = layers_[reader].own;
    const double assessed = own.has_bound() ? own.bound() : bounds_[reader];
    bound = std::min(bound, assessed > 0 ? assessed : safe);
  }
  // A bound that is no number at all, from a tensor with such values.
  return std::isfinite(bound) ? bound / divisor_ : 0;
}

codec::Level BoundPolicy::LevelFor(const PackRequest& request) const {
  CompressionParameter::Level level = param_.level();
  bool is_cheap = false;
  for (const int reader : request.readers) {
    if (layers_[reader].own.has_level()) level = layers_[reader].own.level();
    is_cheap |= layers_[reader].is_cheap;
  }
  if (level == CompressionParameter::AUTO) {
    return is_cheap ? codec::Level::kFast : codec::Level::kDense;
  }
  return level == CompressionParameter::FAST ? codec::Level::kFast
                                             : codec::Level::kDense;
}

Packing BoundPolicy::Choose(const PackRequest& request) {
  std::string name = param_.codec();
  for (const int reader : request.readers) {
    if (layers_[reader].own.has_codec()) name = layers_[reader].own.codec();
  }
  Packing packing;
  if (name == "none") return packing;
  packing.codec = &codec::FindCodec(name);
  packing.settings.bound = BoundFor(request);
  for (const int reader : request.readers) {
    used_bounds_[reader] = packing.settings.bound;
  }
  packing.settings.rounding = param_.rounding() == CompressionParameter::DITHER
                                  ? codec::Rounding::kDither
                                  : codec::Rounding::kNearest;
  packing.settings.level = LevelFor(request);
  packing.settings.seed =
      pass_.seed + HashOf(request.name) + request.part * kSeedsPerPart;
  // The frames never leave the process.
  packing.settings.checksum = false;
  packing.is_checked = pass_.measures;
  packing.keeps_exact = pass_.verifies;
  return packing;
}

}  // namespace caffe
