#include "caffe/layers/tile_layer.hpp"

#include "cpu/tile.hpp"

namespace caffe {

template <typename Dtype>
void TileLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  const TileParameter& param = this->layer_param_.tile_param();
  Require(param.has_tiles(), "needs the number of tiles");
  tiles_ = param.tiles();
  Require(tiles_ > 0, "tiles must be at least 1, not ", tiles_);
  axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  vector<int> shape = bottom[0]->shape();
  const int64_t extent = int64_t{shape[axis_]} * tiles_;
  Require(extent <= INT_MAX, "axis ", axis_, " of its top would have ", extent,
          " values, more than ", INT_MAX);
  shape[axis_] = static_cast<int>(extent);
  top[0]->Reshape(shape);
  outer_dim_ = bottom[0]->count(0, axis_);
  inner_dim_ = bottom[0]->count(axis_);
}

template <typename Dtype>
void TileLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  cpu::TileForward(outer_dim_, tiles_, inner_dim_, bottom[0]->cpu_data(),
                   top[0]->mutable_cpu_data());
}

template <typename Dtype>
void TileLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::TileBackward(outer_dim_, tiles_, inner_dim_, top[0]->cpu_diff(),
                    bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(TileLayer);
REGISTER_LAYER_CLASS(Tile);

}  // namespace caffe
