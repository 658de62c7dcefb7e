#ifndef CAFFE_COMPRESS_MEMORY_FORECAST_HPP_
#define CAFFE_COMPRESS_MEMORY_FORECAST_HPP_

#include <functional>
#include <string>
#include <vector>

#include "caffe/compress/blob_uses.hpp"
#include "caffe/net.hpp"

namespace caffe {

// How a net's activations take memory.
enum class MemoryUse {
  // Every blob has its own, always.
  kEverything,
  // They have it only while they are in use.
  kPlanned,
  // What only Backward reads again is packed, too.
  kCompressed,
};

// What would be kept of a tensor from Forward to Backward.
struct TensorForecast {
  std::string name;
  // "packed", "mask", "raw" or "dropped".
  std::string kept;
  size_t raw_bytes = 0;
  size_t kept_bytes = 0;
};

struct ActivationForecast {
  // In the order in which they are computed.
  std::vector<TensorForecast> tensors;
  // At their peaks: raw values and gradients, and what is packed.
  size_t raw = 0;
  size_t packed = 0;
  // Of the layers' own: masks, probabilities, batches read ahead.
  size_t layers = 0;
  size_t data = 0;
  // Gradients of parameters that are not among the raw ones.
  size_t parameter_gradients = 0;

  // Of activations.
  size_t total() const { return raw + packed + layers + data; }
};

struct ForecastSettings {
  MemoryUse use = MemoryUse::kCompressed;
  Passes passes = Passes::kForwardAndBackward;
  // Parameters are updated during Backward, if there is a plan.
  bool updates_in_backward = false;
  // How many times smaller a tensor gets; 1 where it stays as it is.
  std::function<double(const std::string& tensor,
                       const std::vector<int>& readers)>
      ratio = [](const std::string&, const std::vector<int>&) { return 1.; };
};

// What the activations of a net and their gradients will take, by the shapes
// the net has now. Takes no memory and computes nothing.
template <typename Dtype>
ActivationForecast ForecastActivations(const Net<Dtype>& net,
                                       const ForecastSettings& settings);

}  // namespace caffe

#endif  // CAFFE_COMPRESS_MEMORY_FORECAST_HPP_
