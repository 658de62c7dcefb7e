#ifndef CAFFE_POWER_LAYER_HPP_
#define CAFFE_POWER_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = (scale * x + shift)^power, with the settings of power_param. Backward
// reads the bottom, or in place, where it is gone, a copy: its values for
// powers of 2, 3 and so on, exactly for others, which have poles or know no
// negative values, and nothing where the gradient is the same everywhere.
template <typename Dtype>
class PowerLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Power"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  Dtype power_ = 1;
  Dtype scale_ = 1;
  Dtype shift_ = 0;
  // power_ * scale_.
  Dtype diff_scale_ = 1;

 private:
  // Whether the top is a straight line over the bottom.
  bool HasConstantGradient() const { return diff_scale_ == 0 || power_ == 1; }

  KeptBottom<Dtype> kept_bottom_;
};

}  // namespace caffe

#endif  // CAFFE_POWER_LAYER_HPP_
