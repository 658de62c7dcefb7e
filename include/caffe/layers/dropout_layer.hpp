#ifndef CAFFE_DROPOUT_LAYER_HPP_
#define CAFFE_DROPOUT_LAYER_HPP_

#include <vector>

#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// While training, sets a random share of the values to zero
// (dropout_param.dropout_ratio) and scales the others up, so that the mean
// stays; in the test phase it changes nothing. Draws from the thread's
// generator.
template <typename Dtype>
class DropoutLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Dropout"; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Which values stay, one bit each.
  Blob<unsigned int> rand_vec_;
  // The share of values that go, and what the others are multiplied by.
  Dtype threshold_ = 0;
  Dtype scale_ = 1;
  // A value goes when its 32 random bits are below this.
  unsigned int uint_thres_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_DROPOUT_LAYER_HPP_
