#include "caffe/layers/split_layer.hpp"

#include "cpu/eltwise.hpp"

namespace caffe {

template <typename Dtype>
void SplitLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  for (Blob<Dtype>* copy : top) {
    Require(copy != bottom[0],
            "cannot work in place: its tops must be other "
            "blobs than its bottom");
    copy->ReshapeLike(*bottom[0]);
    copy->ShareData(*bottom[0]);
  }
}

template <typename Dtype>
void SplitLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  vector<const Dtype*> diffs;
  for (const Blob<Dtype>* copy : top) diffs.push_back(copy->cpu_diff());
  cpu::Sum<Dtype>(bottom[0]->count(), diffs, bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(SplitLayer);
REGISTER_LAYER_CLASS(Split);

}  // namespace caffe
