#ifndef CAFFE_ARGMAX_LAYER_HPP_
#define CAFFE_ARGMAX_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Finds the argmax_param.top_k largest values, the largest first; of equal ones
// that with the higher index.
//
// With argmax_param.axis, along that axis, whose extent in the top is top_k:
// their indices or, with out_max_val, the values. Without, among all values of
// an image, (N, ...) to (N, 1, top_k): their indices; with out_max_val (N, 2,
// top_k): the indices, then the values. Tops of bottoms with more axes have as
// many, of extent 1. Has no gradient.
template <typename Dtype>
class ArgMaxLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "ArgMax"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  bool AllowForceBackward(const int /*bottom_index*/) const override {
    return false;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }
  bool works_per_image() const override { return !has_axis_ || axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  bool out_max_val_ = false;
  int top_k_ = 1;
  bool has_axis_ = false;
  int axis_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_ARGMAX_LAYER_HPP_
