#ifndef CAFFE_FILTER_LAYER_HPP_
#define CAFFE_FILTER_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Passes on the items of a batch whose selector is not zero. The last bottom
// has the selectors, one for each item; every other bottom, (N, ...), has its
// top, with as many items as are selected. Until the first Forward, and after
// every Reshape, tops have room for all of them.
//
// Backward reads no blob: the layer notes which items went on.
template <typename Dtype>
class FilterLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Filter"; }
  int MinBottomBlobs() const override { return 2; }
  int MinTopBlobs() const override { return 1; }
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index < data_bottoms_;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // The items that the last Forward selected.
  vector<int> indices_to_forward_;

 private:
  // Bottoms without the selectors.
  int data_bottoms_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_FILTER_LAYER_HPP_
