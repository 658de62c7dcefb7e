#ifndef CAFFE_CONTRASTIVE_LOSS_LAYER_HPP_
#define CAFFE_CONTRASTIVE_LOSS_LAYER_HPP_

#include <vector>

#include "caffe/layers/loss_layer.hpp"

namespace caffe {

// Pulls pairs that are alike together and pushes others apart: for N pairs of
// vectors (bottoms 0 and 1, N x C) and whether they are alike (bottom 2, N
// values that are not 0, or 0), with d the distance of a pair, the sum of d^2
// for those that are alike and of max(margin - d, 0)^2 for others, divided by 2
// * N. With contrastive_loss_param.legacy_version the latter is max(margin -
// d^2, 0).
//
// Both vectors get gradients. Backward reads the third bottom; of the vectors
// their differences, which the layer keeps.
template <typename Dtype>
class ContrastiveLossLayer : public LossLayer<Dtype> {
 public:
  using LossLayer<Dtype>::LossLayer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  int ExactNumBottomBlobs() const override { return 3; }
  const char* type() const override { return "ContrastiveLoss"; }
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index != 2;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of(
        {BackwardRead::kNothing, BackwardRead::kNothing, BackwardRead::kExact},
        {BackwardRead::kNothing});
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // The differences of the vectors, and their squared lengths.
  Blob<Dtype> diff_;
  Blob<Dtype> dist_sq_;

 private:
  // What the difference of a pair is multiplied with to give the gradient of
  // its first vector, besides what is the same for all pairs.
  Dtype Pull(bool alike, Dtype squared_distance) const;
};

}  // namespace caffe

#endif  // CAFFE_CONTRASTIVE_LOSS_LAYER_HPP_
