#ifndef CAFFE_SCALE_LAYER_HPP_
#define CAFFE_SCALE_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layer.hpp"

namespace caffe {

// Multiplies its first bottom with its second, or with a parameter, whose axes
// are those of the first from scale_param.axis on; the product is repeated
// along the others. With scale_param.bias_term, adds a parameter of the same
// shape. Parameters have scale_param.num_axes axes (-1: all to the end).
//
// Backward reads the first bottom for the gradient of the scale; in place,
// where it is gone, a copy.
template <typename Dtype>
class ScaleLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Scale"; }
  int MinBottomBlobs() const override { return 1; }
  int MaxBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override {
    return !has_two_bottoms_ && axis_ > 0;
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int axis_ = 0;
  // The first bottom as (outer_dim_, scale_dim_, inner_dim_) values.
  int outer_dim_ = 0;
  int scale_dim_ = 0;
  int inner_dim_ = 0;
  // Which of the parameters is the bias, or -1.
  int bias_param_id_ = -1;

 private:
  // Whether Backward may be asked for the gradient of the factors.
  bool HasFactorGradient() const {
    return has_two_bottoms_ || this->param_propagate_down(0);
  }

  bool has_two_bottoms_ = false;
  KeptBottom<Dtype> kept_bottom_;
};

}  // namespace caffe

#endif  // CAFFE_SCALE_LAYER_HPP_
