#include "caffe/layers/softmax_layer.hpp"

#include <limits>

#include "caffe/filler.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_gradient_check_util.hpp"

namespace caffe {

template <typename TypeParam>
class SoftmaxLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SoftmaxLayerTest() { Caffe::set_random_seed(1701); }

  static LayerParameter Axis(int axis) {
    LayerParameter param;
    param.mutable_softmax_param()->set_axis(axis);
    return param;
  }

  void Fill(const vector<int>& shape, float std = 1) {
    bottom_.Reshape(shape);
    FillerParameter param;
    param.set_std(std);
    GaussianFiller<Dtype>(param).Fill(&bottom_);
  }

  void Forward(int axis) {
    SoftmaxLayer<Dtype> layer(Axis(axis));
    layer.SetUp(bottoms_, tops_);
    layer.Forward(bottoms_, tops_);
  }

  // Compares the top with the definition, computed in double.
  void ExpectSoftmaxAlong(int axis) {
    const int outer = bottom_.count(0, axis);
    const int channels = bottom_.shape(axis);
    const int inner = bottom_.count(axis + 1);
    ASSERT_EQ(bottom_.shape(), top_.shape());
    for (int o = 0; o < outer; ++o) {
      for (int i = 0; i < inner; ++i) {
        double sum = 0;
        for (int c = 0; c < channels; ++c) {
          sum += std::exp(
              double(bottom_.cpu_data()[(o * channels + c) * inner + i]));
        }
        for (int c = 0; c < channels; ++c) {
          const int at = (o * channels + c) * inner + i;
          ASSERT_NEAR(std::exp(double(bottom_.cpu_data()[at])) / sum,
                      top_.cpu_data()[at], 1e-6)
              << "outer, channel, inner: " << o << ", " << c << ", " << i;
        }
      }
    }
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> top_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_};
};

TYPED_TEST_SUITE(SoftmaxLayerTest, TestDtypesAndDevices);

TYPED_TEST(SoftmaxLayerTest, FollowsTheDefinitionOnEveryAxis) {
  for (int axis = 0; axis < 4; ++axis) {
    this->Fill({2, 10, 3, 5});
    this->Forward(axis);
    this->ExpectSoftmaxAlong(axis);
  }
  this->Forward(-2);
  this->ExpectSoftmaxAlong(2);
}

TYPED_TEST(SoftmaxLayerTest, FollowsTheDefinitionOnManyThreads) {
  this->Fill({129, 1000});
  this->Forward(1);
  this->ExpectSoftmaxAlong(1);
  this->Fill({3, 21, 67, 31});
  this->Forward(1);
  this->ExpectSoftmaxAlong(1);
}

TYPED_TEST(SoftmaxLayerTest, SurvivesLargeScores) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.Reshape({2, 2});
  const Dtype scores[] = {1e4, 1e4, -1e4, -1e4 + 1};
  std::copy_n(scores, 4, this->bottom_.mutable_cpu_data());
  this->Forward(1);
  EXPECT_NEAR(0.5, this->top_.cpu_data()[0], 1e-6);
  EXPECT_NEAR(1 / (1 + std::exp(1.)), this->top_.cpu_data()[2], 1e-6);
  EXPECT_NEAR(1 / (1 + std::exp(-1.)), this->top_.cpu_data()[3], 1e-6);
}

TYPED_TEST(SoftmaxLayerTest, WorksInPlace) {
  typedef typename TypeParam::Dtype Dtype;
  for (const vector<int>& shape :
       {vector<int>{4, 7}, vector<int>{2, 3, 80, 1}}) {
    this->Fill(shape);
    this->Forward(1);
    SoftmaxLayer<Dtype> layer(this->Axis(1));
    layer.SetUp(this->bottoms_, this->bottoms_);
    layer.Forward(this->bottoms_, this->bottoms_);
    for (int i = 0; i < this->top_.count(); ++i) {
      ASSERT_EQ(this->top_.cpu_data()[i], this->bottom_.cpu_data()[i]);
    }
  }
}

TYPED_TEST(SoftmaxLayerTest, EmptyBlobsAreFine) {
  this->bottom_.Reshape(vector<int>{0, 5});
  this->Forward(1);
  this->bottom_.Reshape({5, 0});
  this->Forward(1);
  this->bottom_.Reshape({2, 3, 0, 4});
  this->Forward(1);
  EXPECT_EQ(0, this->top_.count());
}

TYPED_TEST(SoftmaxLayerTest, RefusesAnAxisThatIsNotThere) {
  this->Fill({2, 3});
  EXPECT_THROW(this->Forward(2), Error);
}

TYPED_TEST(SoftmaxLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  for (const int axis : {1, 3}) {
    this->Fill({2, 4, 2, 3});
    SoftmaxLayer<Dtype> layer(this->Axis(axis));
    GradientChecker<Dtype>(1e-2, 1e-3)
        .CheckGradientExhaustive(&layer, this->bottoms_, this->tops_);
  }
}

}  // namespace caffe
