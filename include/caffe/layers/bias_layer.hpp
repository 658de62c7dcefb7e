#ifndef CAFFE_BIAS_LAYER_HPP_
#define CAFFE_BIAS_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Adds to its first bottom its second, or a parameter, whose axes are those of
// the first from bias_param.axis on; the addition is repeated along the others.
// A parameter has bias_param.num_axes axes (-1: all to the end).
template <typename Dtype>
class BiasLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Bias"; }
  int MinBottomBlobs() const override { return 1; }
  int MaxBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

  // Public as in Caffe, for layers that have one inside.
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
  using Layer<Dtype>::Forward_gpu;
  using Layer<Dtype>::Backward_gpu;

 private:
  // The first bottom as (outer_dim_, bias_dim_, inner_dim_) values.
  int outer_dim_ = 0;
  int bias_dim_ = 0;
  int inner_dim_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_BIAS_LAYER_HPP_
