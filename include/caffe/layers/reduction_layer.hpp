#ifndef CAFFE_REDUCTION_LAYER_HPP_
#define CAFFE_REDUCTION_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Makes one number of all values along the axes from reduction_param.axis on:
// their sum, the sum of their absolute values (ASUM) or of their squares
// (SUMSQ), or their mean, as reduction_param.operation says, times
// reduction_param.coeff. The top has the axes before; none, for axis 0.
//
// Backward reads the bottom for ASUM and SUMSQ only.
template <typename Dtype>
class ReductionLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Reduction"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  ReductionParameter_ReductionOp op_ = ReductionParameter::SUM;
  // What sums are multiplied by; for means over the number of values.
  Dtype coeff_ = 1;
  int axis_ = 0;
  // Sums, and values of each.
  int num_ = 0;
  int dim_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_REDUCTION_LAYER_HPP_
