#include "caffe/layers/euclidean_loss_layer.hpp"

#include "caffe/filler.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_gradient_check_util.hpp"

namespace caffe {

template <typename TypeParam>
class EuclideanLossLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  EuclideanLossLayerTest() : data_(10, 5, 1, 1), target_(10, 5, 1, 1) {
    Caffe::set_random_seed(1701);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&data_);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&target_);
  }

  Blob<Dtype> data_;
  Blob<Dtype> target_;
  Blob<Dtype> loss_;
  vector<Blob<Dtype>*> bottoms_ = {&data_, &target_};
  vector<Blob<Dtype>*> tops_ = {&loss_};
};

TYPED_TEST_SUITE(EuclideanLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(EuclideanLossLayerTest, HalfTheMeanOfSquaredDistances) {
  typedef typename TypeParam::Dtype Dtype;
  this->data_.Reshape({2, 2});
  this->target_.Reshape({2, 2});
  const Dtype data[] = {1, 2, 3, 4};
  const Dtype target[] = {1, 4, 0, 5};
  std::copy_n(data, 4, this->data_.mutable_cpu_data());
  std::copy_n(target, 4, this->target_.mutable_cpu_data());
  EuclideanLossLayer<Dtype> layer{LayerParameter()};
  layer.SetUp(this->bottoms_, this->tops_);
  // (0 + 4 + 9 + 1) / 2 items / 2.
  EXPECT_NEAR(3.5, layer.Forward(this->bottoms_, this->tops_), 1e-6);
  layer.Backward(this->tops_, {true, true}, this->bottoms_);
  EXPECT_NEAR(-1, this->data_.cpu_diff()[1], 1e-6);
  EXPECT_NEAR(1, this->target_.cpu_diff()[1], 1e-6);
  EXPECT_NEAR(1.5, this->data_.cpu_diff()[2], 1e-6);
}

TYPED_TEST(EuclideanLossLayerTest, LossWeightScalesLossAndGradient) {
  typedef typename TypeParam::Dtype Dtype;
  EuclideanLossLayer<Dtype> plain{LayerParameter()};
  plain.SetUp(this->bottoms_, this->tops_);
  const Dtype loss = plain.Forward(this->bottoms_, this->tops_);
  plain.Backward(this->tops_, {true, false}, this->bottoms_);
  const Dtype gradient = this->data_.asum_diff();
  ASSERT_GT(loss, 0.1);

  LayerParameter param;
  param.add_loss_weight(3.7);
  EuclideanLossLayer<Dtype> weighted(param);
  weighted.SetUp(this->bottoms_, this->tops_);
  EXPECT_NEAR(3.7 * loss, weighted.Forward(this->bottoms_, this->tops_), 1e-4);
  EXPECT_NEAR(loss, this->loss_.cpu_data()[0], 1e-5);
  weighted.Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_NEAR(3.7 * gradient, this->data_.asum_diff(), 1e-4);
}

TYPED_TEST(EuclideanLossLayerTest, RefusesShapesThatDoNotFit) {
  typedef typename TypeParam::Dtype Dtype;
  EuclideanLossLayer<Dtype> layer{LayerParameter()};
  this->target_.Reshape({5, 10});
  EXPECT_THROW(layer.SetUp(this->bottoms_, this->tops_), Error);
  this->target_.Reshape({10, 4});
  EXPECT_THROW(layer.SetUp(this->bottoms_, this->tops_), Error);
  this->target_.Reshape(vector<int>());
  EXPECT_THROW(layer.SetUp(this->bottoms_, this->tops_), Error);
}

TYPED_TEST(EuclideanLossLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  LayerParameter param;
  param.add_loss_weight(3.7);
  EuclideanLossLayer<Dtype> layer(param);
  EXPECT_TRUE(layer.AllowForceBackward(1));
  GradientChecker<Dtype>(1e-2, 1e-2, 1701)
      .CheckGradientExhaustive(&layer, this->bottoms_, this->tops_);
}

}  // namespace caffe
