#ifndef CAFFE_PRELU_LAYER_HPP_
#define CAFFE_PRELU_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

namespace cpu {
struct ChannelLayout;
}

// y = x where x is positive, slope * x elsewhere. The slopes are parameters,
// one for each channel (axis 1) of a bottom of at least 2 axes, or a single one
// with prelu_param.channel_shared; they start as prelu_param.filler says, or as
// 0.25.
//
// The layer keeps a bit a value: whether it was positive. Besides, Backward
// reads the values of the bottom for the gradients of the slopes, or in place,
// where they are gone, a copy.
template <typename Dtype>
class PReLULayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "PReLU"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  bool channel_shared_ = false;

 private:
  // The bottom as the slopes see it.
  cpu::ChannelLayout LayoutOf(const Blob<Dtype>& bottom) const;

  KeptMask mask_;
  KeptBottom<Dtype> kept_bottom_;
};

}  // namespace caffe

#endif  // CAFFE_PRELU_LAYER_HPP_
