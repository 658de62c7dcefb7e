#include "caffe/layers/slice_layer.hpp"

#include "cpu/copy.hpp"
#include "layers/legacy_axis.hpp"

namespace caffe {

template <typename Dtype>
void SliceLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                   const vector<Blob<Dtype>*>& top) {
  const SliceParameter& param = this->layer_param_.slice_param();
  Require(!(param.has_axis() && param.has_slice_dim()),
          "give either axis or slice_dim, not both");
  const int points = param.slice_point_size();
  Require(points == 0 || points == static_cast<int>(top.size()) - 1,
          "needs one slice_point less than it has tops: ", top.size() - 1,
          ", not ", points);
  int64_t previous = 0;
  slice_point_.clear();
  for (const int64_t point : param.slice_point()) {
    Require(point > previous && point <= INT_MAX,
            "every slice_point must be above the one before; ", point,
            " follows ", previous);
    slice_point_.push_back(static_cast<int>(point));
    previous = point;
  }
}

template <typename Dtype>
vector<int> SliceLayer<Dtype>::Extents(int bottom_extent, int tops) const {
  if (slice_point_.empty()) {
    Require(bottom_extent % tops == 0, "cannot cut ", bottom_extent,
            " along axis ", slice_axis_, " into ", tops,
            " equal parts; give slice_point");
    return vector<int>(tops, bottom_extent / tops);
  }
  Require(slice_point_.back() < bottom_extent, "slice_point ",
          slice_point_.back(), " is not within the ", bottom_extent,
          " of axis ", slice_axis_);
  vector<int> extents;
  int previous = 0;
  for (const int point : slice_point_) {
    extents.push_back(point - previous);
    previous = point;
  }
  extents.push_back(bottom_extent - previous);
  return extents;
}

template <typename Dtype>
void SliceLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                const vector<Blob<Dtype>*>& top) {
  const SliceParameter& param = this->layer_param_.slice_param();
  slice_axis_ = AxisOrLegacy(*bottom[0], param.axis(), param.has_slice_dim(),
                             param.slice_dim());
  count_ = bottom[0]->count();
  num_slices_ = bottom[0]->count(0, slice_axis_);
  slice_size_ = bottom[0]->count(slice_axis_ + 1);
  vector<int> shape = bottom[0]->shape();
  const vector<int> extents = Extents(shape[slice_axis_], top.size());
  for (size_t i = 0; i < top.size(); ++i) {
    Require(top[i] != bottom[0],
            "cannot work in place: its tops must be other blobs than its "
            "bottom");
    shape[slice_axis_] = extents[i];
    top[i]->Reshape(shape);
  }
  if (top.size() == 1) {
    top[0]->ShareData(*bottom[0]);
    top[0]->ShareDiff(*bottom[0]);
  }
}

template <typename Dtype>
void SliceLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  if (top.size() == 1) return;
  const int64_t bottom_row = bottom[0]->count(slice_axis_);
  const Dtype* from = bottom[0]->cpu_data();
  for (Blob<Dtype>* part : top) {
    const int64_t row = part->count(slice_axis_);
    cpu::CopyRows(num_slices_, row, from, bottom_row, part->mutable_cpu_data(),
                  row);
    from += row;
  }
}

template <typename Dtype>
void SliceLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                     const vector<bool>& propagate_down,
                                     const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0] || top.size() == 1) return;
  const int64_t bottom_row = bottom[0]->count(slice_axis_);
  Dtype* to = bottom[0]->mutable_cpu_diff();
  for (const Blob<Dtype>* part : top) {
    const int64_t row = part->count(slice_axis_);
    cpu::CopyRows(num_slices_, row, part->cpu_diff(), row, to, bottom_row);
    to += row;
  }
}

INSTANTIATE_CLASS(SliceLayer);
REGISTER_LAYER_CLASS(Slice);

}  // namespace caffe
