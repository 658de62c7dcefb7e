#include "caffe/layers/contrastive_loss_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

constexpr const char* kLoss = "type: 'ContrastiveLoss'";
constexpr const char* kWide =
    "type: 'ContrastiveLoss' contrastive_loss_param { margin: 6 }";
constexpr const char* kLegacy =
    "type: 'ContrastiveLoss' "
    "contrastive_loss_param { margin: 26 legacy_version: true }";

template <typename TypeParam>
class ContrastiveLossLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Three pairs at the distances 5, 5 and 0.5; the first is alike.
  ContrastiveLossLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    this->FillValues({3, 2}, {3, 0, 3, 4, 0.5, 1}, &this->bottom_);
    this->FillValues({3, 2}, {0, 4, 0, 0, 0, 1}, &this->bottom_b_);
    this->FillValues({3}, {1, 0, 0}, &this->bottom_c_);
  }

  void BackwardToBoth(Layer<Dtype>* layer) {
    layer->Backward(this->tops_, {true, true, false}, this->bottoms_);
  }
};

TYPED_TEST_SUITE(ContrastiveLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(ContrastiveLossLayerTest, HandWorkedPairs) {
  auto layer = this->Forward(kLoss);
  // 25 for the first, none for the second, (1 - 0.5)^2 for the third.
  EXPECT_NEAR(25.25 / 6, this->top_.cpu_data()[0], 1e-5);
  EXPECT_EQ(0, this->top_.num_axes());
  this->BackwardToBoth(layer.get());
  // The third: -(1 - 0.5) / (0.5 + 1e-4) * 0.5.
  const double push = -0.25 / 0.5001 / 3;
  EXPECT_THAT(this->DiffOf(this->bottom_),
              this->IsNear({1, -4. / 3, 0, 0, push, 0}));
  EXPECT_THAT(this->DiffOf(this->bottom_b_),
              this->IsNear({-1, 4. / 3, 0, 0, -push, 0}));
}

TYPED_TEST(ContrastiveLossLayerTest, LegacyVersion) {
  auto layer = this->Forward(kLegacy);
  // 25, 26 - 25 and 26 - 0.25.
  EXPECT_NEAR((25 + 1 + 25.75) / 6, this->top_.cpu_data()[0], 1e-5);
  this->BackwardToBoth(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_),
              this->IsNear({1, -4. / 3, -1, -4. / 3, -0.5 / 3, 0}));
}

TYPED_TEST(ContrastiveLossLayerTest, EqualVectorsHaveNoGradient) {
  this->bottom_b_.CopyFrom(this->bottom_);
  const auto layer = this->Forward(kLoss);
  EXPECT_NEAR(2. / 6, this->top_.cpu_data()[0], 1e-6);
  this->BackwardToBoth(layer.get());
  EXPECT_EQ(0, this->bottom_.asum_diff());
}

TYPED_TEST(ContrastiveLossLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({8, 3, 1, 1}, &this->bottom_);
  this->FillNormal({8, 3, 1, 1}, &this->bottom_b_);
  this->bottom_c_.Reshape({8, 1, 1, 1});
  for (int i = 0; i < 8; ++i) this->bottom_c_.mutable_cpu_data()[i] = i % 3;
  for (const char* const prototxt : {kLoss, kWide, kLegacy}) {
    const auto layer = this->Make(prototxt);
    for (const int side : {0, 1}) {
      GradientChecker<Dtype>(1e-2, 1e-2, 1701)
          .CheckGradientExhaustive(layer.get(), this->bottoms_, this->tops_,
                                   side);
    }
  }
}

TYPED_TEST(ContrastiveLossLayerTest, BatchesMayChange) {
  const auto layer = this->SetUp(kWide);
  this->FillValues({4, 1}, {0, 0, 0, 0}, &this->bottom_);
  this->FillValues({4, 1}, {1, 2, 3, 4}, &this->bottom_b_);
  this->FillValues({4}, {1, 1, 1, 1}, &this->bottom_c_);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_NEAR(30. / 8, this->top_.cpu_data()[0], 1e-5);
}

TYPED_TEST(ContrastiveLossLayerTest, RefusesWhatDoesNotFit) {
  const auto layer = this->Forward(kLoss);
  EXPECT_EQ("whether pairs are alike has no gradient",
            ErrorOf([&] { this->Backward(layer.get()); }));
  EXPECT_TRUE(layer->AllowForceBackward(1));
  EXPECT_FALSE(layer->AllowForceBackward(2));
  this->bottom_c_.Reshape({2});
  EXPECT_EQ(
      "its third bottom must have one value for each of the 3 pairs, not "
      "the shape 2 (2)",
      this->SetUpError(kLoss));
  this->bottom_b_.Reshape({3, 1});
  EXPECT_EQ(
      "its vectors must have the same length, not the shapes 3 2 (6) and "
      "3 1 (3)",
      this->SetUpError(kLoss));
  this->bottom_b_.Reshape({3, 1, 2});
  EXPECT_EQ("takes one vector an item (N x C), not 3 1 2 (6)",
            this->SetUpError(kLoss));
  this->bottoms_.pop_back();
  EXPECT_THAT(this->SetUpError(kLoss), HasSubstr("3 bottom"));
}

}  // namespace caffe
