#ifndef CAFFE_TILE_LAYER_HPP_
#define CAFFE_TILE_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Repeats its bottom along one axis (tile_param.axis), tile_param.tiles times.
// Backward reads no values.
template <typename Dtype>
class TileLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Tile"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }
  bool works_per_image() const override { return axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int axis_ = 0;
  int tiles_ = 0;
  // The bottom as (outer_dim_, inner_dim_) values.
  int outer_dim_ = 0;
  int inner_dim_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_TILE_LAYER_HPP_
