#ifndef CAFFE_LOSS_LAYER_HPP_
#define CAFFE_LOSS_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Stands in for the logarithm of probabilities that came out as zero.
const float kLOG_THRESHOLD = 1e-20;

// A layer that compares predictions (bottom 0) with targets (bottom 1) and
// gives one number to minimize. Its loss weight is 1 unless it says otherwise.
template <typename Dtype>
class LossLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  int ExactNumBottomBlobs() const override { return 2; }
  bool AutoTopBlobs() const override { return true; }
  int ExactNumTopBlobs() const override { return 1; }
  // Targets are constants.
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index != 1;
  }
};

}  // namespace caffe

#endif  // CAFFE_LOSS_LAYER_HPP_
