#ifndef CAFFE_SRC_COMPRESS_VERIFICATION_HPP_
#define CAFFE_SRC_COMPRESS_VERIFICATION_HPP_

#include <optional>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "caffe/compress/error_bound.hpp"
#include "caffe/net.hpp"

namespace caffe {

// Measures what the errors of packed activations do to the gradients of
// weights, by running one batch backward twice: with exact values, then as
// always. Neither the net nor the store keep a trace of it. Of large weights
// only a part is compared.
template <typename Dtype>
class Verification {
 public:
  Verification(Net<Dtype>* net, ActivationStore<Dtype>* store);

  // To be called after a Forward in which exact values were kept, and before
  // its Backward. Gradients of parameters are cleared afterwards.
  void Rehearse();
  // To be called after Backward of each layer, with the sigma that is predicted
  // from the errors of what that layer reads. Does nothing without a rehearsal.
  void Compare(int layer, double predicted);
  // A table of the last comparison.
  void Log(int iteration) const;

  // Of the weights of a layer, in the last comparison; empty when there are
  // none or there was none.
  std::optional<GradientSigma> sigma(int layer) const;

 private:
  // Weights, and the layers that have them, the lowest first.
  struct Weights {
    Blob<Dtype>* blob = nullptr;
    std::vector<int> layers;
    std::vector<Dtype> exact;
    double predicted_variance = 0;
    std::optional<GradientSigma> sigma;
  };

  Net<Dtype>* const net_;
  ActivationStore<Dtype>* const store_;
  std::vector<Weights> weights_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_VERIFICATION_HPP_
