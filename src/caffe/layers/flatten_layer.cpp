#include "caffe/layers/flatten_layer.hpp"

namespace caffe {

template <typename Dtype>
void FlattenLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  const FlattenParameter& param = this->layer_param_.flatten_param();
  const int start = bottom[0]->CanonicalAxisIndex(param.axis());
  const int end = bottom[0]->CanonicalAxisIndex(param.end_axis());
  Require(start <= end, "cannot flatten from axis ", start, " to end_axis ",
          end, ", which is before it");
  const vector<int>& from = bottom[0]->shape();
  vector<int> shape(from.begin(), from.begin() + start);
  shape.push_back(bottom[0]->count(start, end + 1));
  shape.insert(shape.end(), from.begin() + end + 1, from.end());
  top[0]->Reshape(shape);
  top[0]->ShareData(*bottom[0]);
  top[0]->ShareDiff(*bottom[0]);
}

INSTANTIATE_CLASS(FlattenLayer);
REGISTER_LAYER_CLASS(Flatten);

}  // namespace caffe
