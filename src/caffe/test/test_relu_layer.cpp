#include "caffe/layers/relu_layer.hpp"

#include <array>
#include <limits>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class ReLULayerTest : public LayerTest<TypeParam> {};

TYPED_TEST_SUITE(ReLULayerTest, TestDtypesAndDevices);

TYPED_TEST(ReLULayerTest, KeepsWhatIsPositive) {
  this->FillValues({1, 5}, {-3, -0.25, 0, 0.5, 7}, &this->bottom_);
  this->Forward("type: 'ReLU'");
  EXPECT_EQ(this->bottom_.shape(), this->top_.shape());
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(0, 0, 0, 0.5, 7));
  this->Forward("type: 'ReLU' relu_param { negative_slope: 0.5 }");
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(-1.5, -0.125, 0, 0.5, 7));
}

TYPED_TEST(ReLULayerTest, ValuesWithoutLimitOrMeaning) {
  typedef typename TypeParam::Dtype Dtype;
  const Dtype infinity = std::numeric_limits<Dtype>::infinity();
  this->FillValues({3}, {-infinity, infinity, 0}, &this->bottom_);
  this->bottom_.mutable_cpu_data()[2] = std::numeric_limits<Dtype>::quiet_NaN();
  const auto layer = this->Forward("type: 'ReLU'");
  EXPECT_EQ(0, this->top_.cpu_data()[0]);
  EXPECT_EQ(infinity, this->top_.cpu_data()[1]);
  EXPECT_TRUE(std::isnan(this->top_.cpu_data()[2]));
  std::copy_n(std::array{1, 2, 3}.data(), 3, this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0, 2, 3));
}

TYPED_TEST(ReLULayerTest, BackwardPassesWhereTheValueWasPositive) {
  this->FillValues({1, 4}, {-3, 0, 0.5, 7}, &this->bottom_);
  auto layer = this->Forward("type: 'ReLU'");
  std::copy_n(std::array{1, 2, 3, 4}.data(), 4, this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0, 0, 3, 4));
  layer = this->Forward("type: 'ReLU' relu_param { negative_slope: 0.5 }");
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0.5, 1, 3, 4));
}

TYPED_TEST(ReLULayerTest, LargeBlobsAreSharedAmongThreads) {
  this->FillNormal({5, 70001}, &this->bottom_);
  auto layer = this->Forward("type: 'ReLU'");
  for (int i = 0; i < this->top_.count(); ++i) {
    this->top_.mutable_cpu_diff()[i] = i % 10;
  }
  this->Backward(layer.get());
  for (int i = 0; i < this->top_.count(); ++i) {
    const auto x = this->bottom_.cpu_data()[i];
    ASSERT_EQ(x > 0 ? x : 0, this->top_.cpu_data()[i]);
    ASSERT_EQ(x > 0 ? i % 10 : 0, this->bottom_.cpu_diff()[i]);
  }
}

TYPED_TEST(ReLULayerTest, InPlace) {
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  this->ExpectSameInPlace("type: 'ReLU'");
  this->ExpectSameInPlace("type: 'ReLU' relu_param { negative_slope: 0.1 }");
  this->tops_ = this->bottoms_;
  EXPECT_THAT(
      this->SetUpError("type: 'ReLU' relu_param { negative_slope: -1 }"),
      HasSubstr("in place with the negative_slope -1"));
}

TYPED_TEST(ReLULayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  for (const char* slope : {"0", "0.01", "-0.5"}) {
    const auto layer = this->Make(
        string("type: 'ReLU' relu_param { negative_slope: ") + slope + " }");
    GradientChecker<Dtype>(1e-2, 1e-3, 1701, 0, 0.01)
        .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
  }
}

TYPED_TEST(ReLULayerTest, TakesOneBottomAndOneTop) {
  this->FillNormal({2, 3}, &this->bottom_);
  this->bottoms_.push_back(&this->bottom_b_);
  EXPECT_THAT(this->SetUpError("type: 'ReLU'"), HasSubstr("1 bottom"));
}

}  // namespace caffe
