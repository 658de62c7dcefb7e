#ifndef CAFFE_ELU_LAYER_HPP_
#define CAFFE_ELU_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = x where x is positive, elu_param.alpha * (e^x - 1) elsewhere. Backward
// reads the values of the top and, unless alpha is 1, which of the bottom's
// were positive: for that the layer keeps a bit a value. It may work in place.
template <typename Dtype>
class ELULayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "ELU"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

 private:
  Dtype alpha() const { return this->layer_param_.elu_param().alpha(); }
  // Whether the derivative jumps at zero, so that the top's values, which may
  // be a little wrong, do not tell.
  bool KeepsMask() const { return alpha() != 1; }

  KeptMask mask_;
};

}  // namespace caffe

#endif  // CAFFE_ELU_LAYER_HPP_
