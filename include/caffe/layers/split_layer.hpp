#ifndef CAFFE_SPLIT_LAYER_HPP_
#define CAFFE_SPLIT_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Gives several layers the same bottom. The tops share its data; their
// gradients add up. InsertSplits puts it where a net needs it.
template <typename Dtype>
class SplitLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Split"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
};

}  // namespace caffe

#endif  // CAFFE_SPLIT_LAYER_HPP_
