#ifndef CAFFE_CONCAT_LAYER_HPP_
#define CAFFE_CONCAT_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Puts its bottoms one after the other along one axis (concat_param.axis).
// Their other axes must agree.
template <typename Dtype>
class ConcatLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Concat"; }
  int MinBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }
  bool works_per_image() const override { return concat_axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int count_ = 0;
  // Items before the axis, and values of one step along it.
  int num_concats_ = 0;
  int concat_input_size_ = 0;
  int concat_axis_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_CONCAT_LAYER_HPP_
