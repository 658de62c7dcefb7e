#include "caffe/layers/filter_layer.hpp"

#include "cpu/rows.hpp"

namespace caffe {

namespace {

template <typename Dtype>
void ReshapeTops(int items, const vector<Blob<Dtype>*>& bottom,
                 const vector<Blob<Dtype>*>& top) {
  for (size_t i = 0; i < top.size(); ++i) {
    vector<int> shape = bottom[i]->shape();
    shape[0] = items;
    top[i]->Reshape(shape);
  }
}

}  // namespace

template <typename Dtype>
void FilterLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  data_bottoms_ = static_cast<int>(bottom.size()) - 1;
  Require(static_cast<int>(top.size()) == data_bottoms_,
          "takes a top for each of its ", data_bottoms_,
          " bottom(s) before the selectors, not ", top.size());
}

template <typename Dtype>
void FilterLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                 const vector<Blob<Dtype>*>& top) {
  const Blob<Dtype>& selectors = *bottom.back();
  Require(selectors.num_axes() > 0 && selectors.count(1) == 1,
          "takes one selector for each item, not a blob of shape ",
          selectors.shape_string());
  for (int i = 0; i < data_bottoms_; ++i) {
    Require(
        bottom[i]->num_axes() > 0 && bottom[i]->shape(0) == selectors.shape(0),
        "has ", selectors.shape(0), " selectors for a bottom of shape ",
        bottom[i]->shape_string());
    for (const Blob<Dtype>* other : bottom) {
      Require(top[i] != other,
              "cannot work in place: its tops must be other blobs than its "
              "bottoms");
    }
  }
  // Which are selected is known only when there are values.
  ReshapeTops(selectors.shape(0), bottom, top);
}

template <typename Dtype>
void FilterLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  const Dtype* const selectors = bottom.back()->cpu_data();
  indices_to_forward_.clear();
  for (int i = 0; i < bottom.back()->shape(0); ++i) {
    if (selectors[i] != 0) indices_to_forward_.push_back(i);
  }
  ReshapeTops(static_cast<int>(indices_to_forward_.size()), bottom, top);
  for (size_t i = 0; i < top.size(); ++i) {
    cpu::PickRows<Dtype>(indices_to_forward_, bottom[i]->count(1),
                         bottom[i]->cpu_data(), top[i]->mutable_cpu_data());
  }
}

template <typename Dtype>
void FilterLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                      const vector<bool>& propagate_down,
                                      const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[data_bottoms_], "its selectors have no gradient");
  for (size_t i = 0; i < top.size(); ++i) {
    if (!propagate_down[i]) continue;
    Dtype* const diff = bottom[i]->mutable_cpu_diff();
    caffe_set(bottom[i]->count(), Dtype(0), diff);
    cpu::AddToRows<Dtype>(indices_to_forward_, bottom[i]->count(1),
                          top[i]->cpu_diff(), diff);
  }
}

INSTANTIATE_CLASS(FilterLayer);
REGISTER_LAYER_CLASS(Filter);

}  // namespace caffe
