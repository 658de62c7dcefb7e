#ifndef CAFFE_TEST_NET_TEST_UTIL_HPP_
#define CAFFE_TEST_NET_TEST_UTIL_HPP_

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe/layer.hpp"
#include "caffe/net.hpp"

// What the tests of nets share: nets from text, and a layer simple enough to
// work out by hand what a net of them does.

namespace caffe {

// top = weight * bottom + offset, value by value, with one weight and offset
// for each value of a sample. power_param gives their first values: scale
// (1 by default) and shift (0).
template <typename Dtype>
class AffineLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;

  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& /*top*/) override {
    if (!this->blobs_.empty()) return;  // they came with the settings
    const PowerParameter& param = this->layer_param_.power_param();
    const vector<int>& shape = bottom[0]->shape();
    for (const float value : {param.scale(), param.shift()}) {
      this->blobs_.emplace_back(
          new Blob<Dtype>(vector<int>(shape.begin() + 1, shape.end())));
      Blob<Dtype>* const blob = this->blobs_.back().get();
      caffe_set(blob->count(), Dtype(value), blob->mutable_cpu_data());
    }
  }
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override {
    Require(bottom[0]->count(1) == this->blobs_[0]->count(),
            "its samples changed their size");
    top[0]->ReshapeLike(*bottom[0]);
  }
  const char* type() const override { return "Affine"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override {
    const int n = this->blobs_[0]->count();
    for (int i = 0; i < bottom[0]->count(); ++i) {
      top[0]->mutable_cpu_data()[i] =
          bottom[0]->cpu_data()[i] * this->blobs_[0]->cpu_data()[i % n] +
          this->blobs_[1]->cpu_data()[i % n];
    }
  }
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override {
    const int n = this->blobs_[0]->count();
    for (int i = 0; i < bottom[0]->count(); ++i) {
      const Dtype diff = top[0]->cpu_diff()[i];
      if (this->param_propagate_down(0)) {
        this->blobs_[0]->mutable_cpu_diff()[i % n] +=
            diff * bottom[0]->cpu_data()[i];
      }
      if (this->param_propagate_down(1)) {
        this->blobs_[1]->mutable_cpu_diff()[i % n] += diff;
      }
      if (propagate_down[0]) {
        bottom[0]->mutable_cpu_diff()[i] =
            diff * this->blobs_[0]->cpu_data()[i % n];
      }
    }
  }
};

REGISTER_LAYER_CLASS(Affine);

inline NetParameter ParseNet(const string& text) {
  NetParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &param));
  return param;
}

template <typename Dtype>
std::unique_ptr<Net<Dtype>> MakeNet(const string& text) {
  return std::make_unique<Net<Dtype>>(ParseNet(text));
}

template <typename Dtype>
void Set(const vector<Dtype>& values, Blob<Dtype>* blob) {
  CHECK_EQ(static_cast<int>(values.size()), blob->count());
  std::copy(values.begin(), values.end(), blob->mutable_cpu_data());
}

template <typename Dtype>
vector<Dtype> DataOf(const Blob<Dtype>& blob) {
  return vector<Dtype>(blob.cpu_data(), blob.cpu_data() + blob.count());
}

template <typename Dtype>
vector<Dtype> DiffOf(const Blob<Dtype>& blob) {
  return vector<Dtype>(blob.cpu_diff(), blob.cpu_diff() + blob.count());
}

}  // namespace caffe

#endif  // CAFFE_TEST_NET_TEST_UTIL_HPP_
