#include "caffe/layers/batch_reindex_layer.hpp"

#include "cpu/rows.hpp"
#include "layers/indices.hpp"

namespace caffe {

namespace {

template <typename Dtype>
vector<int> ItemsOf(const vector<Blob<Dtype>*>& bottom) {
  return ReadIndices(*bottom[1], bottom[0]->shape(0), "items of the batch");
}

}  // namespace

template <typename Dtype>
void BatchReindexLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0] && top[0] != bottom[1],
          "cannot work in place: its top must be another blob than its "
          "bottoms");
  Require(bottom[0]->num_axes() > 0, "takes a batch, not a single number");
  Require(bottom[1]->num_axes() == 1,
          "takes indices along one axis, not a blob of shape ",
          bottom[1]->shape_string());
  vector<int> shape = bottom[0]->shape();
  shape[0] = bottom[1]->shape(0);
  top[0]->Reshape(shape);
}

template <typename Dtype>
void BatchReindexLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                           const vector<Blob<Dtype>*>& top) {
  cpu::PickRows<Dtype>(ItemsOf(bottom), bottom[0]->count(1),
                       bottom[0]->cpu_data(), top[0]->mutable_cpu_data());
}

template <typename Dtype>
void BatchReindexLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[1], "its indices have no gradient");
  if (!propagate_down[0]) return;
  Dtype* const diff = bottom[0]->mutable_cpu_diff();
  caffe_set(bottom[0]->count(), Dtype(0), diff);
  cpu::AddToRows<Dtype>(ItemsOf(bottom), bottom[0]->count(1),
                        top[0]->cpu_diff(), diff);
}

INSTANTIATE_CLASS(BatchReindexLayer);
REGISTER_LAYER_CLASS(BatchReindex);

}  // namespace caffe
