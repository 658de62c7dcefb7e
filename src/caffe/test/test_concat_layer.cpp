#include "caffe/layers/concat_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class ConcatLayerTest : public LayerTest<TypeParam> {
 protected:
  ConcatLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    this->FillNormal({2, 3, 4, 5}, &this->bottom_);
    this->FillNormal({2, 1, 4, 5}, &this->bottom_b_);
    this->FillNormal({2, 5, 4, 5}, &this->bottom_c_);
  }
};

TYPED_TEST_SUITE(ConcatLayerTest, TestDtypesAndDevices);

TYPED_TEST(ConcatLayerTest, AlongChannelsByDefault) {
  for (const char* layer :
       {"type: 'Concat'", "type: 'Concat' concat_param { axis: 1 }",
        "type: 'Concat' concat_param { axis: -3 }",
        "type: 'Concat' concat_param { concat_dim: 1 }"}) {
    this->Forward(layer);
    ASSERT_THAT(this->top_.shape(), ElementsAre(2, 9, 4, 5));
    for (int n = 0; n < 2; ++n) {
      for (int c = 0; c < 9; ++c) {
        for (int i = 0; i < 20; ++i) {
          const auto expected =
              c < 3   ? this->bottom_.data_at(n, c, i / 5, i % 5)
              : c < 4 ? this->bottom_b_.data_at(n, c - 3, i / 5, i % 5)
                      : this->bottom_c_.data_at(n, c - 4, i / 5, i % 5);
          ASSERT_EQ(expected, this->top_.data_at(n, c, i / 5, i % 5));
        }
      }
    }
  }
}

TYPED_TEST(ConcatLayerTest, AlongTheFirstAndTheLastAxis) {
  this->bottoms_.pop_back();
  this->FillValues({2, 2}, {1, 2, 3, 4}, &this->bottom_);
  this->FillValues({1, 2}, {5, 6}, &this->bottom_b_);
  this->Forward("type: 'Concat' concat_param { axis: 0 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(3, 2));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 3, 4, 5, 6));
  this->bottom_b_.Reshape({2, 1});
  this->Forward("type: 'Concat' concat_param { axis: -1 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 3));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 5, 3, 4, 6));
}

TYPED_TEST(ConcatLayerTest, OneBottomIsShared) {
  this->bottoms_.resize(1);
  this->Forward("type: 'Concat'");
  EXPECT_EQ(this->bottom_.shape(), this->top_.shape());
  EXPECT_EQ(this->bottom_.cpu_data(), this->top_.cpu_data());
  EXPECT_EQ(this->bottom_.cpu_diff(), this->top_.cpu_diff());
}

TYPED_TEST(ConcatLayerTest, BackwardLeavesOutBottomsThatDoNotWantIt) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Forward("type: 'Concat'");
  caffe_set(this->top_.count(), Dtype(2), this->top_.mutable_cpu_diff());
  layer->Backward(this->tops_, {true, false, true}, this->bottoms_);
  EXPECT_EQ(2 * this->bottom_.count(), this->bottom_.asum_diff());
  EXPECT_EQ(0, this->bottom_b_.asum_diff());
  EXPECT_EQ(2 * this->bottom_c_.count(), this->bottom_c_.asum_diff());
}

TYPED_TEST(ConcatLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({2, 3, 1, 2}, &this->bottom_);
  this->FillNormal({2, 1, 1, 2}, &this->bottom_b_);
  this->FillNormal({2, 2, 1, 2}, &this->bottom_c_);
  const auto layer = this->Make("type: 'Concat'");
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradientExhaustive(layer.get(), this->bottoms_, this->tops_);
}

TYPED_TEST(ConcatLayerTest, Refuses) {
  EXPECT_THAT(
      this->SetUpError("type: 'Concat' concat_param { axis: 1 concat_dim: 1 }"),
      HasSubstr("not both"));
  EXPECT_THAT(this->SetUpError("type: 'Concat' concat_param { axis: 4 }"),
              HasSubstr("axis 4"));
  EXPECT_THAT(this->SetUpError(
                  "type: 'Concat' concat_param { concat_dim: 4294967295 }"),
              HasSubstr("axis 4294967295"));
  EXPECT_THAT(this->SetUpError("type: 'Concat' concat_param { axis: 0 }"),
              HasSubstr("same shape except along axis 0, not 2 3 4 5 (120) and "
                        "2 1 4 5 (40)"));
  this->bottom_b_.Reshape({2, 20});
  EXPECT_THAT(this->SetUpError("type: 'Concat'"), HasSubstr("same shape"));
  this->bottom_b_.Reshape({2, 1, 4, 5});
  this->tops_ = {&this->bottom_b_};
  EXPECT_THAT(this->SetUpError("type: 'Concat'"), HasSubstr("in place"));
}

}  // namespace caffe
