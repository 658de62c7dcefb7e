#include "caffe/layers/spp_layer.hpp"

#include <algorithm>

#include "cpu/copy.hpp"

namespace caffe {

namespace {

// Grids finer than this have more bins than an int can count pixels.
constexpr uint32_t kMaxHeight = 16;

// How windows that touch each other cover an axis: of equal size, and with
// padding where they reach beyond its ends.
struct Bins {
  Bins(int extent, int bins)
      : kernel((extent + bins - 1) / bins),
        pad((kernel * bins - extent + 1) / 2) {}
  bool Fit() const { return pad < kernel; }

  int kernel;
  int pad;
};

}  // namespace

template <typename Dtype>
LayerParameter SPPLayer<Dtype>::GetPoolingParam(const int pyramid_level,
                                                const int bottom_h,
                                                const int bottom_w,
                                                const SPPParameter& spp_param) {
  const Bins rows(bottom_h, 1 << pyramid_level);
  const Bins columns(bottom_w, 1 << pyramid_level);
  Require(rows.Fit() && columns.Fit(), "level ", pyramid_level,
          " of its pyramid is too fine for images of ", bottom_h, " x ",
          bottom_w);
  LayerParameter layer_param;
  layer_param.set_phase(this->phase_);
  PoolingParameter* const param = layer_param.mutable_pooling_param();
  param->set_kernel_h(rows.kernel);
  param->set_kernel_w(columns.kernel);
  param->set_stride_h(rows.kernel);
  param->set_stride_w(columns.kernel);
  param->set_pad_h(rows.pad);
  param->set_pad_w(columns.pad);
  // The two messages number methods and engines alike.
  param->set_pool(static_cast<PoolingParameter_PoolMethod>(spp_param.pool()));
  param->set_engine(static_cast<PoolingParameter_Engine>(spp_param.engine()));
  return layer_param;
}

template <typename Dtype>
void SPPLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                 const vector<Blob<Dtype>*>& /*top*/) {
  const uint32_t height = this->layer_param_.spp_param().pyramid_height();
  Require(height >= 1 && height <= kMaxHeight, "pyramid_height must be from 1 ",
          "to ", kMaxHeight, ", not ", height);
  pyramid_height_ = static_cast<int>(height);
}

template <typename Dtype>
void SPPLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                              const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  Require(bottom[0]->num_axes() == 4,
          "takes images of 4 axes (num, channels, height, width), not ",
          bottom[0]->shape_string());
  Require(bottom[0]->height() > 0 && bottom[0]->width() > 0,
          "cannot pool images of shape ", bottom[0]->shape_string());
  const bool is_new_size =
      bottom_h_ != bottom[0]->height() || bottom_w_ != bottom[0]->width();
  if (is_new_size) pooling_layers_.clear();
  bottom_h_ = bottom[0]->height();
  bottom_w_ = bottom[0]->width();
  pooled_shapes_.clear();
  int64_t values = 0;
  for (int level = 0; level < pyramid_height_; ++level) {
    Blob<Dtype> pooled;
    if (level == static_cast<int>(pooling_layers_.size())) {
      pooling_layers_.push_back(
          boost::make_shared<PoolingLayer<Dtype>>(GetPoolingParam(
              level, bottom_h_, bottom_w_, this->layer_param_.spp_param())));
      pooling_layers_[level]->SetUp(bottom, {&pooled});
    } else {
      pooling_layers_[level]->Reshape(bottom, {&pooled});
    }
    pooled_shapes_.push_back(pooled.shape());
    values += pooled.count(1);
  }
  Require(values <= INT_MAX, "its top would have ", values,
          " values an image, more than ", INT_MAX);
  top[0]->Reshape({bottom[0]->num(), static_cast<int>(values)});
}

template <typename Dtype>
BackwardReads SPPLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  for (size_t level = 0; level < pooling_layers_.size(); ++level) {
    for (auto buffer : pooling_layers_[level]->backward_reads().buffers) {
      buffer.name += std::to_string(level);
      reads.buffers.push_back(buffer);
    }
  }
  return reads;
}

template <typename Dtype>
template <typename Work>
void SPPLayer<Dtype>::ForLevels(const Work& work) {
  int column = 0;
  for (int level = 0; level < pyramid_height_; ++level) {
    Blob<Dtype> pooled(pooled_shapes_[level]);
    work(pooling_layers_[level].get(), &pooled, column);
    column += pooled.count(1);
  }
}

template <typename Dtype>
void SPPLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  const int row = top[0]->count(1);
  Dtype* const out = top[0]->mutable_cpu_data();
  ForLevels([&](Layer<Dtype>* layer, Blob<Dtype>* pooled, int column) {
    layer->Forward(bottom, {pooled});
    cpu::CopyRows(pooled->num(), pooled->count(1), pooled->cpu_data(),
                  pooled->count(1), out + column, row);
  });
}

template <typename Dtype>
void SPPLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                   const vector<bool>& propagate_down,
                                   const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const int row = top[0]->count(1);
  const Dtype* const top_diff = top[0]->cpu_diff();
  Blob<Dtype> other_levels(bottom[0]->shape());
  ForLevels([&](Layer<Dtype>* layer, Blob<Dtype>* pooled, int column) {
    cpu::CopyRows(pooled->num(), pooled->count(1), top_diff + column, row,
                  pooled->mutable_cpu_diff(), pooled->count(1));
    if (column == 0) return layer->Backward({pooled}, {true}, bottom);
    layer->Backward({pooled}, {true}, {&other_levels});
    caffe_axpy(other_levels.count(), Dtype(1), other_levels.cpu_diff(),
               bottom[0]->mutable_cpu_diff());
  });
}

INSTANTIATE_CLASS(SPPLayer);
REGISTER_LAYER_CLASS(SPP);

}  // namespace caffe
