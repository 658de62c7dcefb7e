#ifndef CAFFE_RELU_LAYER_HPP_
#define CAFFE_RELU_LAYER_HPP_

#include <vector>

#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = x where x is positive, relu_param.negative_slope * x elsewhere. Backward
// reads the signs of the top only, and without a slope only its zeros, so the
// layer may work in place; with a slope below zero, which hides the signs, it
// reads the bottom and may not.
template <typename Dtype>
class ReLULayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "ReLU"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
};

}  // namespace caffe

#endif  // CAFFE_RELU_LAYER_HPP_
