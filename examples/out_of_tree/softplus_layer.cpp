#include "softplus_layer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe/filler.hpp"
#include "caffe/util/math_functions.hpp"

namespace caffe {

template <typename Dtype>
void SoftplusLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  CHECK_NE(top[0], bottom[0]) << this->type() << " does not work in place.";
  CHECK_GE(bottom[0]->num_axes(), 2);
  if (this->blobs_.size() > 0) {
    LOG(INFO) << "Skipping parameter initialization";
  } else {
    this->blobs_.resize(1);
    this->blobs_[0].reset(new Blob<Dtype>(vector<int>(1, bottom[0]->shape(1))));
    FillerParameter one;
    one.set_type("constant");
    one.set_value(1);
    shared_ptr<Filler<Dtype> > filler(GetFiller<Dtype>(one));
    filler->Fill(this->blobs_[0].get());
  }
  this->param_propagate_down_.resize(this->blobs_.size(), true);
}

template <typename Dtype>
void SoftplusLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  channels_ = bottom[0]->shape(1);
  inner_ = bottom[0]->count(2);
  top[0]->ReshapeLike(*bottom[0]);
  softplus_.ReshapeLike(*bottom[0]);
}

template <typename Dtype>
void SoftplusLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  const Dtype* bottom_data = bottom[0]->cpu_data();
  const Dtype* gain = this->blobs_[0]->cpu_data();
  Dtype* softplus = softplus_.mutable_cpu_data();
  Dtype* top_data = top[0]->mutable_cpu_data();
  for (int i = 0; i < bottom[0]->count(); ++i) {
    const Dtype x = bottom_data[i];
    softplus[i] = std::max(x, Dtype(0)) + std::log1p(std::exp(-std::abs(x)));
  }
  for (int row = 0; row < bottom[0]->count(0, 2); ++row) {
    caffe_cpu_scale(inner_, gain[row % channels_], softplus + row * inner_,
                    top_data + row * inner_);
  }
}

template <typename Dtype>
void SoftplusLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                        const vector<bool>& propagate_down,
                                        const vector<Blob<Dtype>*>& bottom) {
  const Dtype* top_diff = top[0]->cpu_diff();
  const int rows = bottom[0]->count(0, 2);
  if (this->param_propagate_down_[0]) {
    Dtype* gain_diff = this->blobs_[0]->mutable_cpu_diff();
    for (int row = 0; row < rows; ++row) {
      gain_diff[row % channels_] += caffe_cpu_dot(
          inner_, top_diff + row * inner_, softplus_.cpu_data() + row * inner_);
    }
  }
  if (propagate_down[0]) {
    const Dtype* bottom_data = bottom[0]->cpu_data();
    const Dtype* gain = this->blobs_[0]->cpu_data();
    Dtype* bottom_diff = bottom[0]->mutable_cpu_diff();
    for (int i = 0; i < bottom[0]->count(); ++i) {
      const Dtype sigmoid = 1. / (1. + std::exp(-bottom_data[i]));
      bottom_diff[i] = top_diff[i] * gain[i / inner_ % channels_] * sigmoid;
    }
  }
}

#ifdef CPU_ONLY
STUB_GPU(SoftplusLayer);
#endif

INSTANTIATE_CLASS(SoftplusLayer);
REGISTER_LAYER_CLASS(Softplus);

}  // namespace caffe
