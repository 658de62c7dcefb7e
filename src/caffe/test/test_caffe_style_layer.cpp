// A layer and its tests as a user of Caffe 1.0 writes them, in their own
// sources: nothing in this file is made for this library.

#include <cmath>
#include <vector>

#include "boost/scoped_ptr.hpp"
#include "gtest/gtest.h"

#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/filler.hpp"
#include "caffe/layer.hpp"
#include "caffe/layers/neuron_layer.hpp"
#include "caffe/util/math_functions.hpp"

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_gradient_check_util.hpp"

namespace caffe {

// y = w x + b of each value, with one w and b for every channel.
template <typename Dtype>
class ChannelAffineLayer : public Layer<Dtype> {
 public:
  explicit ChannelAffineLayer(const LayerParameter& param)
      : Layer<Dtype>(param) {}
  virtual void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                          const vector<Blob<Dtype>*>& top) {
    const int axis =
        bottom[0]->CanonicalAxisIndex(this->layer_param_.scale_param().axis());
    channels_ = bottom[0]->shape(axis);
    if (this->blobs_.size() > 0) {
      LOG(INFO) << "Skipping parameter initialization";
    } else {
      this->blobs_.resize(2);
      this->blobs_[0].reset(new Blob<Dtype>(vector<int>(1, channels_)));
      this->blobs_[1].reset(new Blob<Dtype>(vector<int>(1, channels_)));
      shared_ptr<Filler<Dtype> > filler(
          GetFiller<Dtype>(this->layer_param_.scale_param().filler()));
      filler->Fill(this->blobs_[0].get());
      caffe_set(channels_, Dtype(0), this->blobs_[1]->mutable_cpu_data());
    }
    this->param_propagate_down_.resize(this->blobs_.size(), true);
  }
  virtual void Reshape(const vector<Blob<Dtype>*>& bottom,
                       const vector<Blob<Dtype>*>& top) {
    top[0]->ReshapeLike(*bottom[0]);
    spatial_dim_ = bottom[0]->count(2);
    ones_.Reshape(1, 1, 1, spatial_dim_);
    caffe_set(spatial_dim_, Dtype(1), ones_.mutable_cpu_data());
  }
  virtual inline const char* type() const { return "ChannelAffine"; }
  virtual inline int ExactNumBottomBlobs() const { return 1; }
  virtual inline int ExactNumTopBlobs() const { return 1; }

 protected:
  virtual void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top) {
    for (int n = 0; n < bottom[0]->num(); ++n) {
      for (int c = 0; c < channels_; ++c) {
        Dtype* top_data = top[0]->mutable_cpu_data() + top[0]->offset(n, c);
        caffe_cpu_scale(spatial_dim_, this->blobs_[0]->cpu_data()[c],
                        bottom[0]->cpu_data() + bottom[0]->offset(n, c),
                        top_data);
        caffe_add_scalar(spatial_dim_, this->blobs_[1]->cpu_data()[c],
                         top_data);
      }
    }
  }
  virtual void Forward_gpu(const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top);
  virtual void Backward_cpu(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom) {
    for (int n = 0; n < bottom[0]->num(); ++n) {
      for (int c = 0; c < channels_; ++c) {
        const int offset = bottom[0]->offset(n, c);
        const Dtype* top_diff = top[0]->cpu_diff() + offset;
        if (this->param_propagate_down_[0]) {
          this->blobs_[0]->mutable_cpu_diff()[c] += caffe_cpu_dot(
              spatial_dim_, top_diff, bottom[0]->cpu_data() + offset);
        }
        if (this->param_propagate_down_[1]) {
          this->blobs_[1]->mutable_cpu_diff()[c] +=
              caffe_cpu_dot(spatial_dim_, top_diff, ones_.cpu_data());
        }
        if (propagate_down[0]) {
          caffe_cpu_scale(spatial_dim_, this->blobs_[0]->cpu_data()[c],
                          top_diff, bottom[0]->mutable_cpu_diff() + offset);
        }
      }
    }
  }
  virtual void Backward_gpu(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom);

  int channels_;
  int spatial_dim_;
  Blob<Dtype> ones_;
};

#ifdef CPU_ONLY
STUB_GPU(ChannelAffineLayer);
#endif

INSTANTIATE_CLASS(ChannelAffineLayer);
REGISTER_LAYER_CLASS(ChannelAffine);

// A neuron, made by a creator of its own.
template <typename Dtype>
class CubeLayer : public NeuronLayer<Dtype> {
 public:
  explicit CubeLayer(const LayerParameter& param) : NeuronLayer<Dtype>(param) {}
  virtual inline const char* type() const { return "Cube"; }

 protected:
  virtual void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top) {
    caffe_powx(bottom[0]->count(), bottom[0]->cpu_data(), Dtype(3),
               top[0]->mutable_cpu_data());
  }
  virtual void Backward_cpu(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom) {
    if (!propagate_down[0]) {
      return;
    }
    const int count = bottom[0]->count();
    Dtype* bottom_diff = bottom[0]->mutable_cpu_diff();
    caffe_sqr(count, bottom[0]->cpu_data(), bottom_diff);
    caffe_scal(count, Dtype(3), bottom_diff);
    caffe_mul(count, bottom_diff, top[0]->cpu_diff(), bottom_diff);
  }
};

template <typename Dtype>
shared_ptr<Layer<Dtype> > GetCubeLayer(const LayerParameter& param) {
  return shared_ptr<Layer<Dtype> >(new CubeLayer<Dtype>(param));
}
REGISTER_LAYER_CREATOR(Cube, GetCubeLayer);

template <typename TypeParam>
class ChannelAffineLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  ChannelAffineLayerTest()
      : blob_bottom_(new Blob<Dtype>(2, 3, 4, 5)),
        blob_top_(new Blob<Dtype>()) {
    Caffe::set_random_seed(1701);
    FillerParameter filler_param;
    filler_param.set_mean(0.5);
    GaussianFiller<Dtype> filler(filler_param);
    filler.Fill(this->blob_bottom_);
    blob_bottom_vec_.push_back(blob_bottom_);
    blob_top_vec_.push_back(blob_top_);
    layer_param_.mutable_scale_param()->mutable_filler()->set_type("uniform");
  }
  virtual ~ChannelAffineLayerTest() {
    delete blob_bottom_;
    delete blob_top_;
  }
  Blob<Dtype>* const blob_bottom_;
  Blob<Dtype>* const blob_top_;
  vector<Blob<Dtype>*> blob_bottom_vec_;
  vector<Blob<Dtype>*> blob_top_vec_;
  LayerParameter layer_param_;
};

TYPED_TEST_CASE(ChannelAffineLayerTest, TestDtypesAndDevices);

TYPED_TEST(ChannelAffineLayerTest, TestSetUp) {
  typedef typename TypeParam::Dtype Dtype;
  ChannelAffineLayer<Dtype> layer(this->layer_param_);
  layer.SetUp(this->blob_bottom_vec_, this->blob_top_vec_);
  EXPECT_EQ(this->blob_top_->num(), 2);
  EXPECT_EQ(this->blob_top_->channels(), 3);
  EXPECT_EQ(this->blob_top_->height(), 4);
  EXPECT_EQ(this->blob_top_->width(), 5);
  EXPECT_EQ(layer.blobs().size(), 2);
  EXPECT_EQ(layer.blobs()[0]->shape_string(), "3 (3)");
}

TYPED_TEST(ChannelAffineLayerTest, TestForward) {
  typedef typename TypeParam::Dtype Dtype;
  boost::scoped_ptr<ChannelAffineLayer<Dtype> > layer(
      new ChannelAffineLayer<Dtype>(this->layer_param_));
  layer->SetUp(this->blob_bottom_vec_, this->blob_top_vec_);
  layer->blobs()[1]->mutable_cpu_data()[1] = 7;
  EXPECT_EQ(layer->Forward(this->blob_bottom_vec_, this->blob_top_vec_), 0);
  for (int n = 0; n < 2; ++n) {
    for (int c = 0; c < 3; ++c) {
      const Dtype w = layer->blobs()[0]->cpu_data()[c];
      EXPECT_GE(w, 0);
      EXPECT_LE(w, 1);
      for (int h = 0; h < 4; ++h) {
        for (int i = 0; i < 5; ++i) {
          EXPECT_NEAR(
              this->blob_top_->data_at(n, c, h, i),
              w * this->blob_bottom_->data_at(n, c, h, i) + (c == 1 ? 7 : 0),
              1e-5);
        }
      }
    }
  }
}

TYPED_TEST(ChannelAffineLayerTest, TestGradient) {
  typedef typename TypeParam::Dtype Dtype;
  ChannelAffineLayer<Dtype> layer(this->layer_param_);
  GradientChecker<Dtype> checker(1e-2, 1e-3);
  checker.CheckGradientExhaustive(&layer, this->blob_bottom_vec_,
                                  this->blob_top_vec_);
}

TYPED_TEST(ChannelAffineLayerTest, TestCreatedByType) {
  typedef typename TypeParam::Dtype Dtype;
  LayerParameter param;
  param.set_type("Cube");
  // What the registry gives is Boost's, by whatever name.
  boost::shared_ptr<Layer<Dtype> > layer =
      LayerRegistry<Dtype>::CreateLayer(param);
  boost::shared_ptr<NeuronLayer<Dtype> > neuron =
      boost::dynamic_pointer_cast<NeuronLayer<Dtype> >(layer);
  ASSERT_TRUE(neuron != NULL);
  EXPECT_STREQ(neuron->type(), "Cube");
  GradientChecker<Dtype> checker(1e-2, 1e-2, 1701, 0., 0.01);
  checker.CheckGradientEltwise(layer.get(), this->blob_bottom_vec_,
                               this->blob_top_vec_);
}

// One type only, without devices.
template <typename Dtype>
class CubeTest : public CPUDeviceTest<Dtype> {};

TYPED_TEST_CASE(CubeTest, TestDtypes);

TYPED_TEST(CubeTest, TestCube) {
  Blob<TypeParam> bottom(vector<int>(1, 3));
  Blob<TypeParam> top;
  for (int i = 0; i < 3; ++i) {
    bottom.mutable_cpu_data()[i] = i - 1;
  }
  vector<Blob<TypeParam>*> bottoms(1, &bottom), tops(1, &top);
  LayerParameter param;
  CubeLayer<TypeParam> layer(param);
  layer.SetUp(bottoms, tops);
  layer.Forward(bottoms, tops);
  EXPECT_EQ(top.cpu_data()[0], -1);
  EXPECT_EQ(top.cpu_data()[1], 0);
  EXPECT_EQ(top.cpu_data()[2], 1);
}

}  // namespace caffe
