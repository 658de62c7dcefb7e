#ifndef CAFFE_HINGE_LOSS_LAYER_HPP_
#define CAFFE_HINGE_LOSS_LAYER_HPP_

#include <vector>

#include "caffe/layers/loss_layer.hpp"

namespace caffe {

// The hinge loss of one against all: for N items with a score x for each class
// (bottom 0, all axes but the first) and a label (bottom 1, N values), the sum
// of max(0, 1 - x) for the label's class and max(0, 1 + x) for the others, or
// of their squares with hinge_loss_param.norm L2, divided by N.
//
// Backward reads both bottoms exactly.
template <typename Dtype>
class HingeLossLayer : public LossLayer<Dtype> {
 public:
  using LossLayer<Dtype>::LossLayer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "HingeLoss"; }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(BackwardRead::kExact);
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
};

}  // namespace caffe

#endif  // CAFFE_HINGE_LOSS_LAYER_HPP_
