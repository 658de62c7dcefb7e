#ifndef CAFFE_SIGMOID_CROSS_ENTROPY_LOSS_LAYER_HPP_
#define CAFFE_SIGMOID_CROSS_ENTROPY_LOSS_LAYER_HPP_

#include <optional>
#include <vector>

#include "caffe/layers/loss_layer.hpp"

namespace caffe {

// The cross entropy of independent probabilities: the sum of -t * log(p) - (1 -
// t) * log(1 - p), where p = 1 / (1 + e^-x) for every score x (bottom 0) and t
// is its target (bottom 1, as many values), from 0 to 1. loss_param says which
// target to ignore and what to divide by: unless it does, the number of items
// (the first axis). Targets are cut to integers to see whether they are
// ignored.
//
// Backward reads both bottoms exactly.
template <typename Dtype>
class SigmoidCrossEntropyLossLayer : public LossLayer<Dtype> {
 public:
  using LossLayer<Dtype>::LossLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "SigmoidCrossEntropyLoss"; }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(BackwardRead::kExact);
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // What the sum of losses is divided by, at least 1. A valid_count of -1
  // stands for all targets.
  virtual Dtype get_normalizer(
      LossParameter_NormalizationMode normalization_mode, int valid_count);

  bool has_ignore_label_ = false;
  int ignore_label_ = 0;
  LossParameter_NormalizationMode normalization_ = LossParameter::BATCH_SIZE;
  int outer_num_ = 0;
  int inner_num_ = 0;

 private:
  std::optional<int> Ignored() const {
    return has_ignore_label_ ? std::optional(ignore_label_) : std::nullopt;
  }
  Dtype NormalizerFor(const Blob<Dtype>& targets);
};

}  // namespace caffe

#endif  // CAFFE_SIGMOID_CROSS_ENTROPY_LOSS_LAYER_HPP_
