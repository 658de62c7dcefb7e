#ifndef CAFFE_COMPRESS_BOUND_POLICY_HPP_
#define CAFFE_COMPRESS_BOUND_POLICY_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "caffe/compress/policy.hpp"
#include "caffe/proto/compress.pb.h"

namespace caffe {

// Packs with the codec of the settings, and with the smallest of the bounds of
// the layers that read the tensor. Until a layer has one, with a safe bound
// from the tensor's range.
class BoundPolicy : public PackingPolicy {
 public:
  // What the policy knows of one layer of the net.
  struct LayerInfo {
    std::string name;
    LayerCompressionParameter own;
    // Whether so little is computed with what its Backward reads that packing
    // must not take long.
    bool is_cheap = false;
    // Whether an estimator gives its bound; otherwise it is relative.
    bool is_assessed = false;
  };
  // Of the tensor a layer last read.
  struct Statistics {
    double nonzero_fraction = 0;
    double deviation = 0;
  };
  // What is to be done in one pass.
  struct Pass {
    // Of the dither: differs between all passes, but not between two runs.
    uint32_t seed = 0;
    // Whether bounds are assessed, for which statistics are collected.
    bool assesses = false;
    // Whether errors are to be measured.
    bool measures = false;
    // Whether statistics are collected and exact values kept to verify bounds.
    bool verifies = false;
  };

  BoundPolicy(const CompressionParameter& param, std::vector<LayerInfo> layers);

  Packing Choose(const PackRequest& request) override;

  // Before every pass.
  void StartPass(const Pass& pass);

  const std::vector<LayerInfo>& layers() const { return layers_; }
  const Statistics& statistics(int layer) const { return statistics_[layer]; }
  // Zero while it has none.
  double bound(int layer) const { return bounds_[layer]; }
  void set_bound(int layer, double bound) { bounds_[layer] = bound; }
  // All values are packed with their bound divided by it.
  void set_divisor(double divisor) { divisor_ = divisor; }
  // With which bound the last pass has packed what the layer reads; zero when
  // nothing.
  double used_bound(int layer) const { return used_bounds_[layer]; }

 private:
  double BoundFor(const PackRequest& request);
  codec::Level LevelFor(const PackRequest& request) const;

  const CompressionParameter param_;
  const std::vector<LayerInfo> layers_;
  std::vector<double> bounds_;
  std::vector<double> used_bounds_;
  std::vector<Statistics> statistics_;
  double divisor_ = 1;
  Pass pass_;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_BOUND_POLICY_HPP_
