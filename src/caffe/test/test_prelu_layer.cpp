#include "caffe/layers/prelu_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class PReLULayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Away from the kink at zero.
  void FillBottom(const vector<int>& shape) {
    this->FillNormal(shape, &this->bottom_);
    for (int i = 0; i < this->bottom_.count(); ++i) {
      Dtype& value = this->bottom_.mutable_cpu_data()[i];
      value += value > 0 ? 0.05 : -0.05;
    }
  }
};

TYPED_TEST_SUITE(PReLULayerTest, TestDtypesAndDevices);

constexpr const char* kNormal =
    "type: 'PReLU' prelu_param { filler { type: 'gaussian' } }";
constexpr const char* kShared =
    "type: 'PReLU' prelu_param { channel_shared: true }";

TYPED_TEST(PReLULayerTest, EveryChannelHasItsSlope) {
  this->FillValues({2, 2, 2}, {-4, 4, -4, 4, 0, -8, 1, -1}, &this->bottom_);
  auto layer = this->Forward("type: 'PReLU'");
  ASSERT_EQ(1, layer->blobs().size());
  EXPECT_EQ(vector<int>{2}, layer->blobs()[0]->shape());
  EXPECT_EQ(this->bottom_.shape(), this->top_.shape());
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(-1, 4, -1, 4, 0, -2, 1, -0.25));

  layer->blobs()[0]->mutable_cpu_data()[0] = 0.5;
  layer->blobs()[0]->mutable_cpu_data()[1] = -1;
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(-2, 4, 4, 4, 0, -4, 1, 1));
  caffe_set(8, typename TypeParam::Dtype(2), this->top_.mutable_cpu_diff());
  caffe_set(2, typename TypeParam::Dtype(10),
            layer->blobs()[0]->mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_),
              ElementsAre(1, 2, -2, 2, 1, 1, 2, -2));
  // Added to what was there: 10 + 2 * (-4 - 8) and 10 + 2 * (-4 - 1).
  EXPECT_THAT(this->DiffOf(*layer->blobs()[0]), ElementsAre(-14, 0));
}

TYPED_TEST(PReLULayerTest, ChannelsMayShareASlope) {
  this->FillValues({1, 2, 2}, {-4, 4, -2, 4}, &this->bottom_);
  auto layer = this->Forward(kShared);
  ASSERT_EQ(1, layer->blobs().size());
  EXPECT_EQ(vector<int>(), layer->blobs()[0]->shape());
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(-1, 4, -0.5, 4));
}

TYPED_TEST(PReLULayerTest, LargeBlobsAreSharedAmongThreads) {
  typedef typename TypeParam::Dtype Dtype;
  for (const vector<int>& shape :
       {vector<int>{3, 5, 123, 31}, vector<int>{211, 307}}) {
    this->FillNormal(shape, &this->bottom_);
    auto layer = this->Forward(kNormal);
    const Blob<Dtype>& slopes = *layer->blobs()[0];
    for (int i = 0; i < this->top_.count(); ++i) {
      this->top_.mutable_cpu_diff()[i] = i % 7 - 3;
    }
    caffe_set(slopes.count(), Dtype(0), layer->blobs()[0]->mutable_cpu_diff());
    this->Backward(layer.get());
    vector<double> slope_diffs(slopes.count());
    for (int i = 0; i < this->top_.count(); ++i) {
      const int c = i / this->bottom_.count(2) % shape[1];
      const Dtype x = this->bottom_.cpu_data()[i];
      const Dtype slope = x > 0 ? 1 : slopes.cpu_data()[c];
      ASSERT_EQ(slope * x, this->top_.cpu_data()[i]);
      ASSERT_EQ(slope * (i % 7 - 3), this->bottom_.cpu_diff()[i]);
      if (x <= 0) slope_diffs[c] += x * (i % 7 - 3);
    }
    for (int c = 0; c < slopes.count(); ++c) {
      ASSERT_NEAR(slope_diffs[c], slopes.cpu_diff()[c],
                  1e-5 * std::max(1.0, std::fabs(slope_diffs[c])));
    }
  }
}

TYPED_TEST(PReLULayerTest, InPlace) {
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  this->ExpectSameInPlace(kNormal);
  this->ExpectSameInPlace(kShared);
}

TYPED_TEST(PReLULayerTest, FrozenSlopesGetNoGradient) {
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  this->tops_ = this->bottoms_;
  auto layer = this->SetUp(kNormal);
  layer->set_param_propagate_down(0, false);
  caffe_set(3, typename TypeParam::Dtype(7),
            layer->blobs()[0]->mutable_cpu_diff());
  layer->Forward(this->bottoms_, this->tops_);
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(*layer->blobs()[0]), ElementsAre(7, 7, 7));
}

TYPED_TEST(PReLULayerTest, Gradient) {
  for (const vector<int>& shape : {vector<int>{2, 3, 2, 2}, {5, 4}}) {
    this->FillBottom(shape);
    this->CheckGradients(kNormal, 1e-2, 1e-3);
    this->CheckGradients(kShared, 1e-2, 1e-3);
  }
}

TYPED_TEST(PReLULayerTest, RefusesBottomsThatDoNotFit) {
  this->FillNormal({5}, &this->bottom_);
  EXPECT_THAT(this->SetUpError("type: 'PReLU'"), HasSubstr("at least 2 axes"));
  this->FillNormal({2, 3}, &this->bottom_);
  const auto layer = this->SetUp("type: 'PReLU'");
  this->bottom_.Reshape({2, 4});
  EXPECT_EQ("has 3 slope(s) where a bottom of shape 2 4 (8) asks for 4",
            ErrorOf([&] { layer->Forward(this->bottoms_, this->tops_); }));
}

TYPED_TEST(PReLULayerTest, RefusesWeightsThatDoNotFit) {
  this->FillNormal({2, 3}, &this->bottom_);
  const string blob = " blobs { shape { dim: 3 } data: 1 data: 2 data: 3 }";
  EXPECT_NO_THROW(this->SetUp("type: 'PReLU'" + blob));
  EXPECT_EQ("takes 1 parameter blob, not 2",
            this->SetUpError("type: 'PReLU'" + blob + blob));
  EXPECT_THAT(this->SetUpError(kShared + blob), HasSubstr("has 3 slope(s)"));
}

}  // namespace caffe
