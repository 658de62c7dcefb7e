#ifndef CAFFE_RESHAPE_LAYER_HPP_
#define CAFFE_RESHAPE_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Gives the bottom's values another shape, reshape_param.shape, in place of
// its axes from reshape_param.axis on, reshape_param.num_axes of them. There, 0
// takes over the extent of the bottom's axis at the same place, and one -1
// stands for whatever remains. Bottom and top share their memory.
template <typename Dtype>
class ReshapeLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Reshape"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}

  // Of the new shape: the axes that are 0, the one that is -1 (or -1), and the
  // product of the others.
  vector<int> copy_axes_;
  int inferred_axis_ = -1;
  int constant_count_ = 1;
};

}  // namespace caffe

#endif  // CAFFE_RESHAPE_LAYER_HPP_
