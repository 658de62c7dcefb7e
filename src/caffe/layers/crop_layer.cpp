#include "caffe/layers/crop_layer.hpp"

#include "cpu/box.hpp"

namespace caffe {

template <typename Dtype>
void CropLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& /*top*/) {
  const CropParameter& param = this->layer_param_.crop_param();
  const int cropped =
      bottom[0]->num_axes() - bottom[0]->CanonicalAxisIndex(param.axis());
  Require(param.offset_size() <= 1 || param.offset_size() == cropped,
          "offset must be given at most once, or once for each of the ",
          cropped, " axes to crop, not ", param.offset_size(), " times");
}

template <typename Dtype>
void CropLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0] && top[0] != bottom[1],
          "cannot work in place: its top must be another blob than its "
          "bottoms");
  const CropParameter& param = this->layer_param_.crop_param();
  axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  const int axes = bottom[0]->num_axes();
  Require(bottom[1]->num_axes() >= axes &&
              (param.offset_size() <= 1 || param.offset_size() == axes - axis_),
          "cannot crop a blob of shape ", bottom[0]->shape_string(),
          " to one of shape ", bottom[1]->shape_string(),
          ": the number of axes does not fit");
  vector<int> shape = bottom[0]->shape();
  offsets_.assign(axes, 0);
  for (int i = axis_; i < axes; ++i) {
    const int given = param.offset_size() > 1 ? i - axis_ : 0;
    const int64_t offset = param.offset_size() > 0 ? param.offset(given) : 0;
    Require(offset + bottom[1]->shape(i) <= shape[i], "cannot take ",
            bottom[1]->shape(i), " values from ", offset, " on of axis ", i,
            " of a blob of shape ", bottom[0]->shape_string());
    offsets_[i] = static_cast<int>(offset);
    shape[i] = bottom[1]->shape(i);
  }
  top[0]->Reshape(shape);
}

template <typename Dtype>
cpu::Box CropLayer<Dtype>::Cut(const Blob<Dtype>& bottom,
                               const Blob<Dtype>& top) const {
  return {.whole = bottom.shape(), .begin = offsets_, .extent = top.shape()};
}

template <typename Dtype>
void CropLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  cpu::ReadBox(Cut(*bottom[0], *top[0]), bottom[0]->cpu_data(),
               top[0]->mutable_cpu_data());
}

template <typename Dtype>
void CropLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (propagate_down[0]) {
    cpu::WriteBox(Cut(*bottom[0], *top[0]), top[0]->cpu_diff(),
                  bottom[0]->mutable_cpu_diff());
  }
  // Its values change nothing.
  if (propagate_down[1]) {
    caffe_set(bottom[1]->count(), Dtype(0), bottom[1]->mutable_cpu_diff());
  }
}

INSTANTIATE_CLASS(CropLayer);
REGISTER_LAYER_CLASS(Crop);

}  // namespace caffe
