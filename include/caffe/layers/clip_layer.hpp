#ifndef CAFFE_CLIP_LAYER_HPP_
#define CAFFE_CLIP_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layers/neuron_layer.hpp"

namespace caffe {

// y = x, but at least clip_param.min and at most clip_param.max. The gradient
// passes where the bottom was within these limits; for that the layer keeps a
// bit a value, and Backward reads neither bottom nor top. It may work in place.
template <typename Dtype>
class ClipLayer : public NeuronLayer<Dtype> {
 public:
  using NeuronLayer<Dtype>::NeuronLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Clip"; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

 private:
  KeptMask mask_;
};

}  // namespace caffe

#endif  // CAFFE_CLIP_LAYER_HPP_
