#ifndef CAFFE_ELTWISE_LAYER_HPP_
#define CAFFE_ELTWISE_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Combines bottoms of one shape value by value: their sum, with coefficients
// (eltwise_param.coeff) if wanted, their product or their maximum
// (eltwise_param.operation).
template <typename Dtype>
class EltwiseLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Eltwise"; }
  int MinBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return op_ != EltwiseParameter::MAX; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  EltwiseParameter_EltwiseOp op_ = EltwiseParameter::SUM;
  vector<Dtype> coeffs_;
  // Which bottom held each maximum.
  Blob<int> max_idx_;
  // Whether the gradient of a product multiplies the other factors, which
  // works for zeros as well, or divides the product by the factor.
  bool stable_prod_grad_ = true;

 private:
  void ProductBackward(const Blob<Dtype>& top,
                       const vector<Blob<Dtype>*>& bottom, size_t index);
};

}  // namespace caffe

#endif  // CAFFE_ELTWISE_LAYER_HPP_
