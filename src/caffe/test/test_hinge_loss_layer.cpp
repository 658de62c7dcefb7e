#include "caffe/layers/hinge_loss_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

template <typename TypeParam>
class HingeLossLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  HingeLossLayerTest() { this->bottoms_ = {&this->bottom_, &this->bottom_b_}; }
};

TYPED_TEST_SUITE(HingeLossLayerTest, TestDtypesAndDevices);

constexpr const char* kL1 = "type: 'HingeLoss'";
constexpr const char* kL2 = "type: 'HingeLoss' hinge_loss_param { norm: L2 }";

TYPED_TEST(HingeLossLayerTest, HandWorkedScores) {
  this->FillValues({2, 3}, {0.5, -2, 1, -3, 1, -0.5}, &this->bottom_);
  this->FillValues({2, 1}, {0, 1}, &this->bottom_b_);
  // The margins are 0.5 0 2 and 0 0 0.5: 1 + x, but 1 - x at the label.
  auto layer = this->Forward(kL1);
  EXPECT_NEAR(3.0 / 2, this->top_.cpu_data()[0], 1e-6);
  EXPECT_EQ(0, this->top_.num_axes());
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_),
              this->IsNear({-0.5, 0, 0.5, 0, 0, 0.5}));
  layer = this->Forward(kL2);
  EXPECT_NEAR((0.25 + 4 + 0.25) / 2, this->top_.cpu_data()[0], 1e-6);
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_),
              this->IsNear({-0.5, 0, 2, 0, 0, 0.5}));
}

TYPED_TEST(HingeLossLayerTest, ClassesAreAllAxesButTheFirst) {
  this->FillValues({1, 2, 2}, {0, 0, 0, 5}, &this->bottom_);
  this->FillValues({1}, {3}, &this->bottom_b_);
  this->Forward(kL1);
  EXPECT_NEAR(3, this->top_.cpu_data()[0], 1e-6);
}

TYPED_TEST(HingeLossLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({10, 5}, &this->bottom_, 3);
  this->bottom_b_.Reshape({10});
  for (int i = 0; i < 10; ++i)
    this->bottom_b_.mutable_cpu_data()[i] = i * 3 % 5;
  for (const char* const prototxt : {kL1, kL2}) {
    const auto layer = this->Make(string(prototxt) + " loss_weight: 3");
    // There are kinks at 1 and -1.
    GradientChecker<Dtype>(1e-2, 2e-3, 1701, 1, 0.01)
        .CheckGradientExhaustive(layer.get(), this->bottoms_, this->tops_, 0);
  }
}

TYPED_TEST(HingeLossLayerTest, RefusesWhatDoesNotFit) {
  this->FillNormal({2, 3}, &this->bottom_);
  this->FillValues({2}, {0, 2}, &this->bottom_b_);
  const auto layer = this->Forward(kL1);
  EXPECT_EQ("labels have no gradients",
            ErrorOf([&] { this->Backward(layer.get()); }));
  for (const double label : {3., -1., 1e30}) {
    this->bottom_b_.mutable_cpu_data()[1] = label;
    EXPECT_THAT(ErrorOf([&] { this->Forward(kL1); }),
                HasSubstr("not one of the 3 classes"));
  }
  this->bottom_b_.Reshape({2, 2});
  EXPECT_EQ(
      "scores of shape 2 3 (6) need one label for each of their 2 items, "
      "not 4",
      this->SetUpError(kL1));
}

}  // namespace caffe
