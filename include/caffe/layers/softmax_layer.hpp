#ifndef CAFFE_SOFTMAX_LAYER_HPP_
#define CAFFE_SOFTMAX_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Turns scores into probabilities along one axis (softmax_param.axis):
// exp(x) over the sum of exp(x).
template <typename Dtype>
class SoftmaxLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Softmax"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of({BackwardRead::kNothing}, {BackwardRead::kExact});
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Items before and after the axis.
  int outer_num_ = 0;
  int inner_num_ = 0;
  int softmax_axis_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_SOFTMAX_LAYER_HPP_
