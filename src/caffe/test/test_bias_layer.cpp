#include "caffe/layers/bias_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class BiasLayerTest : public LayerTest<TypeParam> {
 protected:
  BiasLayerTest() { this->FillNormal({2, 3, 2, 2}, &this->bottom_); }
};

TYPED_TEST_SUITE(BiasLayerTest, TestDtypesAndDevices);

TYPED_TEST(BiasLayerTest, StartsAsTheIdentity) {
  const auto layer = this->Forward("type: 'Bias'");
  ASSERT_EQ(1u, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[0]->shape(), ElementsAre(3));
  EXPECT_EQ(this->DataOf(this->bottom_), this->DataOf(this->top_));
}

TYPED_TEST(BiasLayerTest, HandWorkedValues) {
  this->FillValues({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}, &this->bottom_);
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillValues({2}, {10, 20}, &this->bottom_b_);
  this->Forward("type: 'Bias'");
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(11, 12, 23, 24, 15, 16, 27, 28));
  this->Forward("type: 'Bias' bias_param { axis: 0 }");
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(11, 12, 13, 14, 25, 26, 27, 28));
  const auto layer = this->Forward("type: 'Bias' bias_param { axis: -1 }");
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(11, 22, 13, 24, 15, 26, 17, 28));
  for (int i = 0; i < 8; ++i) this->top_.mutable_cpu_diff()[i] = i;
  this->Backward(layer.get());
  EXPECT_EQ(this->DiffOf(this->top_), this->DiffOf(this->bottom_));
  EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(12, 16));
  this->FillValues({}, {100}, &this->bottom_b_);
  this->Forward("type: 'Bias'");
  EXPECT_EQ(101, this->top_.cpu_data()[0]);
  EXPECT_EQ(108, this->top_.cpu_data()[7]);
}

TYPED_TEST(BiasLayerTest, InPlace) {
  this->ExpectSameInPlace(
      "type: 'Bias' bias_param { filler { type: 'gaussian' "
      "std: 1 } num_axes: 2 }");
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({3}, &this->bottom_b_);
  this->ExpectSameInPlace("type: 'Bias'");
}

TYPED_TEST(BiasLayerTest, Gradient) {
  for (const char* settings : {"", "axis: 0 num_axes: -1", "num_axes: 0"}) {
    this->CheckGradients(string("type: 'Bias' bias_param { ") + settings + " }",
                         1e-2, 1e-3);
  }
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({3, 2}, &this->bottom_b_);
  this->CheckGradients("type: 'Bias'", 1e-2, 1e-3);
}

TYPED_TEST(BiasLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'Bias' bias_param { num_axes: 4 }"),
              HasSubstr("at most 3"));
  EXPECT_THAT(this->SetUpError("type: 'Bias' bias_param { axis: -5 }"),
              HasSubstr("axis -5"));
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({2}, &this->bottom_b_);
  EXPECT_THAT(this->SetUpError("type: 'Bias'"), HasSubstr("does not fit"));
}

}  // namespace caffe
