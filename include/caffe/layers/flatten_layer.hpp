#ifndef CAFFE_FLATTEN_LAYER_HPP_
#define CAFFE_FLATTEN_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Makes one axis out of the axes flatten_param.axis to flatten_param.end_axis.
// Bottom and top share their memory.
template <typename Dtype>
class FlattenLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Flatten"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}
};

}  // namespace caffe

#endif  // CAFFE_FLATTEN_LAYER_HPP_
