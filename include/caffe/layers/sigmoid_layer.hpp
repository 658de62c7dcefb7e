#ifndef CAFFE_SIGMOID_LAYER_HPP_
#define CAFFE_SIGMOID_LAYER_HPP_

#include <vector>

#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = 1 / (1 + e^-x). Backward reads the values of the top, so the layer may
// work in place. engine: CAFFE takes the reference kernels.
template <typename Dtype>
class SigmoidLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;

  const char* type() const override { return "Sigmoid"; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of({BackwardRead::kNothing}, {BackwardRead::kValues});
  }
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
};

}  // namespace caffe

#endif  // CAFFE_SIGMOID_LAYER_HPP_
