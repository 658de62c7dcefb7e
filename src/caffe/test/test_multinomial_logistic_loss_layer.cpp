#include "caffe/layers/multinomial_logistic_loss_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

constexpr const char* kLoss = "type: 'MultinomialLogisticLoss'";

template <typename TypeParam>
class MultinomialLogisticLossLayerTest : public LayerTest<TypeParam> {
 protected:
  MultinomialLogisticLossLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_};
    this->FillValues({2, 3}, {0.5, 0.25, 0.25, 0.125, 0.875, 0},
                     &this->bottom_);
    this->FillValues({2, 1}, {1, 0}, &this->bottom_b_);
  }
};

TYPED_TEST_SUITE(MultinomialLogisticLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(MultinomialLogisticLossLayerTest, MeanOfLogarithms) {
  const auto layer = this->Forward(kLoss);
  // -log(1/4) and -log(1/8).
  EXPECT_NEAR(5 * std::log(2.) / 2, this->top_.cpu_data()[0], 1e-6);
  EXPECT_EQ(0, this->top_.num_axes());
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), this->IsNear({0, -2, 0, -4, 0, 0}));
}

TYPED_TEST(MultinomialLogisticLossLayerTest, ZeroCountsAsALittle) {
  this->bottom_b_.mutable_cpu_data()[1] = 2;
  const auto layer = this->Forward(kLoss);
  EXPECT_NEAR((std::log(4.) - std::log(1e-20)) / 2, this->top_.cpu_data()[0],
              1e-5);
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_NEAR(-0.5e20, this->bottom_.cpu_diff()[5], 1e15);
}

TYPED_TEST(MultinomialLogisticLossLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.Reshape({6, 2, 2});
  this->bottom_b_.Reshape({6, 1, 1, 1});
  caffe_rng_uniform<Dtype>(24, 0.3, 1, this->bottom_.mutable_cpu_data());
  for (int i = 0; i < 6; ++i) this->bottom_b_.mutable_cpu_data()[i] = i % 4;
  this->CheckGradients(string(kLoss) + " loss_weight: 3", 1e-2, 1e-2, 0);
}

TYPED_TEST(MultinomialLogisticLossLayerTest, RefusesWhatDoesNotFit) {
  const auto layer = this->Forward(kLoss);
  EXPECT_EQ("labels have no gradients",
            ErrorOf([&] { this->Backward(layer.get()); }));
  this->bottom_b_.mutable_cpu_data()[1] = 3;
  EXPECT_THAT(ErrorOf([&] { this->Forward(kLoss); }),
              HasSubstr("not one of the 3 classes"));
  this->bottom_b_.Reshape({2, 2});
  EXPECT_THAT(this->SetUpError(kLoss), HasSubstr("need one label for each"));
}

}  // namespace caffe
