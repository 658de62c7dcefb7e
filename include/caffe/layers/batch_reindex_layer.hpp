#ifndef CAFFE_BATCHREINDEX_LAYER_HPP_
#define CAFFE_BATCHREINDEX_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Puts together another batch from the items of its first bottom, (N, ...):
// item i of the top is the one that value i of the second bottom, (M), is the
// index of. The top is (M, ...); an item may be there more than once, or not at
// all.
//
// Backward reads the indices.
template <typename Dtype>
class BatchReindexLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "BatchReindex"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index == 0;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of({BackwardRead::kNothing, BackwardRead::kExact},
                             {BackwardRead::kNothing});
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
};

}  // namespace caffe

#endif  // CAFFE_BATCHREINDEX_LAYER_HPP_
