#include "caffe/layers/concat_layer.hpp"

#include "cpu/copy.hpp"
#include "layers/legacy_axis.hpp"

namespace caffe {

template <typename Dtype>
void ConcatLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                    const vector<Blob<Dtype>*>& /*top*/) {
  const ConcatParameter& param = this->layer_param_.concat_param();
  Require(!(param.has_axis() && param.has_concat_dim()),
          "give either axis or concat_dim, not both");
}

template <typename Dtype>
void ConcatLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                 const vector<Blob<Dtype>*>& top) {
  const ConcatParameter& param = this->layer_param_.concat_param();
  concat_axis_ = AxisOrLegacy(*bottom[0], param.axis(), param.has_concat_dim(),
                              param.concat_dim());
  vector<int> shape = bottom[0]->shape();
  int64_t extent = 0;
  for (const Blob<Dtype>* part : bottom) {
    Require(part != top[0],
            "cannot work in place: its top must be another blob than its "
            "bottoms");
    vector<int> expected = bottom[0]->shape();
    if (part->num_axes() == bottom[0]->num_axes()) {
      expected[concat_axis_] = part->shape(concat_axis_);
    }
    Require(part->shape() == expected,
            "its bottoms must have the same shape except along axis ",
            concat_axis_, ", not ", bottom[0]->shape_string(), " and ",
            part->shape_string());
    extent += part->shape(concat_axis_);
  }
  Require(extent <= INT_MAX, "its bottoms are too long together");
  shape[concat_axis_] = static_cast<int>(extent);
  top[0]->Reshape(shape);
  count_ = top[0]->count();
  num_concats_ = bottom[0]->count(0, concat_axis_);
  concat_input_size_ = bottom[0]->count(concat_axis_ + 1);
  if (bottom.size() == 1) {
    top[0]->ShareData(*bottom[0]);
    top[0]->ShareDiff(*bottom[0]);
  }
}

template <typename Dtype>
void ConcatLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  if (bottom.size() == 1) return;
  const int64_t top_row = top[0]->count(concat_axis_);
  Dtype* to = top[0]->mutable_cpu_data();
  for (const Blob<Dtype>* part : bottom) {
    const int64_t row = part->count(concat_axis_);
    cpu::CopyRows(num_concats_, row, part->cpu_data(), row, to, top_row);
    to += row;
  }
}

template <typename Dtype>
void ConcatLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                      const vector<bool>& propagate_down,
                                      const vector<Blob<Dtype>*>& bottom) {
  if (bottom.size() == 1) return;
  const int64_t top_row = top[0]->count(concat_axis_);
  const Dtype* from = top[0]->cpu_diff();
  for (size_t i = 0; i < bottom.size(); ++i) {
    const int64_t row = bottom[i]->count(concat_axis_);
    if (propagate_down[i]) {
      cpu::CopyRows(num_concats_, row, from, top_row,
                    bottom[i]->mutable_cpu_diff(), row);
    }
    from += row;
  }
}

INSTANTIATE_CLASS(ConcatLayer);
REGISTER_LAYER_CLASS(Concat);

}  // namespace caffe
