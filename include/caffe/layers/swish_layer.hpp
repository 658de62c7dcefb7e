#ifndef CAFFE_SWISH_LAYER_HPP_
#define CAFFE_SWISH_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = x / (1 + e^(-beta * x)), with swish_param.beta. Backward reads the values
// of the bottom; in place, where they are gone, a copy.
template <typename Dtype>
class SwishLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Swish"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

 private:
  KeptBottom<Dtype> kept_bottom_;
};

}  // namespace caffe

#endif  // CAFFE_SWISH_LAYER_HPP_
