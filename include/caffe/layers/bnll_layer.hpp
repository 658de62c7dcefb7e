#ifndef CAFFE_BNLL_LAYER_HPP_
#define CAFFE_BNLL_LAYER_HPP_

#include <vector>

#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// The binomial normal log likelihood, y = log(1 + e^x). Backward reads the
// values of the top, so the layer may work in place.
template <typename Dtype>
class BNLLLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;

  const char* type() const override { return "BNLL"; }
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

#endif  // CAFFE_BNLL_LAYER_HPP_
