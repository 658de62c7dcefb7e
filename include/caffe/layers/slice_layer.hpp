#ifndef CAFFE_SLICE_LAYER_HPP_
#define CAFFE_SLICE_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Cuts its bottom along one axis (slice_param.axis) into its tops: at the
// places slice_param.slice_point, or into equal parts.
template <typename Dtype>
class SliceLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Slice"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int count_ = 0;
  // Items before the axis, and values of one step along it.
  int num_slices_ = 0;
  int slice_size_ = 0;
  int slice_axis_ = 0;
  vector<int> slice_point_;

 private:
  // The extent of every top along the axis.
  vector<int> Extents(int bottom_extent, int tops) const;
};

}  // namespace caffe

#endif  // CAFFE_SLICE_LAYER_HPP_
