#include "caffe/layers/reshape_layer.hpp"

namespace caffe {

template <typename Dtype>
void ReshapeLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  const BlobShape& shape = this->layer_param_.reshape_param().shape();
  copy_axes_.clear();
  inferred_axis_ = -1;
  int64_t constant_count = 1;
  for (int i = 0; i < shape.dim_size(); ++i) {
    const int64_t dim = shape.dim(i);
    if (dim == 0) {
      copy_axes_.push_back(i);
    } else if (dim == -1) {
      Require(inferred_axis_ == -1, "its shape can have only one -1");
      inferred_axis_ = i;
    } else {
      Require(dim > 0 && dim <= INT_MAX, "its shape cannot have the extent ",
              dim);
      constant_count *= dim;
      Require(constant_count <= INT_MAX, "its shape asks for more than ",
              INT_MAX, " values");
    }
  }
  constant_count_ = static_cast<int>(constant_count);
}

template <typename Dtype>
void ReshapeLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  const ReshapeParameter& param = this->layer_param_.reshape_param();
  const vector<int>& from = bottom[0]->shape();
  const int axes = bottom[0]->num_axes();
  // Unlike elsewhere, -1 is the place after the last axis.
  const int start = param.axis() >= 0 ? param.axis() : axes + param.axis() + 1;
  Require(start >= 0 && start <= axes, "axis ", param.axis(),
          " is out of range for a blob of shape ", bottom[0]->shape_string());
  Require(param.num_axes() >= -1 && param.num_axes() <= axes - start,
          "num_axes must be -1 or at most ", axes - start,
          " for a blob of shape ", bottom[0]->shape_string(), ", not ",
          param.num_axes());
  const int end = param.num_axes() == -1 ? axes : start + param.num_axes();

  vector<int> shape(from.begin(), from.begin() + start);
  for (const int64_t dim : param.shape().dim()) {
    shape.push_back(static_cast<int>(dim));
  }
  shape.insert(shape.end(), from.begin() + end, from.end());
  // The product of the new extents without the one to infer.
  int64_t explicit_count = int64_t{constant_count_} *
                           bottom[0]->count(0, start) * bottom[0]->count(end);
  for (const int axis : copy_axes_) {
    Require(start + axis < axes, "its shape has a 0 at place ", axis,
            " where the bottom, of shape ", bottom[0]->shape_string(),
            ", has no axis");
    shape[start + axis] = from[start + axis];
    explicit_count *= from[start + axis];
  }
  if (inferred_axis_ >= 0) {
    Require(explicit_count > 0 && bottom[0]->count() % explicit_count == 0,
            "the ", bottom[0]->count(),
            " values of the bottom cannot be "
            "divided by the product of the other extents, ",
            explicit_count);
    shape[start + inferred_axis_] =
        static_cast<int>(bottom[0]->count() / explicit_count);
  }
  top[0]->Reshape(shape);
  Require(top[0]->count() == bottom[0]->count(), "cannot give ",
          bottom[0]->count(), " values the shape ", top[0]->shape_string());
  top[0]->ShareData(*bottom[0]);
  top[0]->ShareDiff(*bottom[0]);
}

INSTANTIATE_CLASS(ReshapeLayer);
REGISTER_LAYER_CLASS(Reshape);

}  // namespace caffe
