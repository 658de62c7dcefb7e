#include "caffe/layers/dropout_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

template <typename TypeParam>
class DropoutLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Trains once on ones; checks that every value is 0 or scaled, and that
  // about `ratio` of them are 0. Returns the top.
  vector<Dtype> ExpectDropped(double ratio) {
    this->bottom_.Reshape({5, 3001});
    const int count = this->bottom_.count();
    caffe_set(count, Dtype(1), this->bottom_.mutable_cpu_data());
    const auto layer = this->Forward(
        "type: 'Dropout' dropout_param { "
        "dropout_ratio: " +
        std::to_string(ratio) + " }");
    int dropped = 0;
    for (int i = 0; i < count; ++i) {
      const Dtype value = this->top_.cpu_data()[i];
      if (value == 0) {
        ++dropped;
      } else {
        EXPECT_NEAR(1 / (1 - ratio), value, 1e-5);
      }
    }
    // Five standard deviations.
    EXPECT_NEAR(ratio * count, dropped,
                5 * std::sqrt(ratio * (1 - ratio) * count));
    const vector<Dtype> top = this->DataOf(this->top_);
    caffe_set(count, Dtype(1), this->top_.mutable_cpu_diff());
    this->Backward(layer.get());
    EXPECT_EQ(top, this->DiffOf(this->bottom_));
    return top;
  }
};

TYPED_TEST_SUITE(DropoutLayerTest, TestDtypesAndDevices);

TYPED_TEST(DropoutLayerTest, DropsItsShareAndKeepsTheMean) {
  this->ExpectDropped(0.5);
  this->ExpectDropped(0.75);
  this->ExpectDropped(0.1);
}

TYPED_TEST(DropoutLayerTest, FollowsTheThreadsGenerator) {
  Caffe::set_random_seed(7);
  const auto first = this->ExpectDropped(0.5);
  const auto second = this->ExpectDropped(0.5);
  EXPECT_NE(first, second);
  Caffe::set_random_seed(7);
  EXPECT_EQ(first, this->ExpectDropped(0.5));
  EXPECT_EQ(second, this->ExpectDropped(0.5));
}

TYPED_TEST(DropoutLayerTest, TestPhaseChangesNothing) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  const auto layer = this->Forward("type: 'Dropout' phase: TEST");
  EXPECT_EQ(this->DataOf(this->bottom_), this->DataOf(this->top_));
  caffe_set(this->top_.count(), Dtype(3), this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_EQ(this->DiffOf(this->top_), this->DiffOf(this->bottom_));
}

TYPED_TEST(DropoutLayerTest, InPlace) {
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  this->ExpectSameInPlace("type: 'Dropout'");
  this->ExpectSameInPlace("type: 'Dropout' phase: TEST");
}

TYPED_TEST(DropoutLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({2, 3, 2, 3}, &this->bottom_);
  for (const char* phase : {"TRAIN", "TEST"}) {
    const auto layer = this->Make(string("type: 'Dropout' phase: ") + phase);
    GradientChecker<Dtype>(1e-2, 1e-3)
        .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
  }
}

TYPED_TEST(DropoutLayerTest, RefusesRatiosThatMakeNoSense) {
  this->FillNormal({2, 3}, &this->bottom_);
  for (const char* ratio : {"0", "1", "-0.5", "1.5", "nan"}) {
    EXPECT_THAT(this->SetUpError(
                    string("type: 'Dropout' dropout_param { dropout_ratio: ") +
                    ratio + " }"),
                HasSubstr("dropout_ratio must be above 0 and below 1"))
        << ratio;
  }
}

}  // namespace caffe
