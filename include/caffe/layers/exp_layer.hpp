#ifndef CAFFE_EXP_LAYER_HPP_
#define CAFFE_EXP_LAYER_HPP_

#include <vector>

#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = base^(scale * x + shift), with the settings of exp_param; a base of -1
// stands for e. Backward reads the values of the top, so the layer may work in
// place.
template <typename Dtype>
class ExpLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Exp"; }
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

  // y = e^(inner_scale_ * x + inner_shift_).
  Dtype inner_scale_ = 1;
  Dtype inner_shift_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_EXP_LAYER_HPP_
