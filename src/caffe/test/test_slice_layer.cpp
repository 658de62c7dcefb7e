#include "caffe/layers/slice_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class SliceLayerTest : public LayerTest<TypeParam> {
 protected:
  SliceLayerTest() {
    this->tops_.push_back(&this->top_b_);
    this->FillNormal({4, 6, 2, 3}, &this->bottom_);
  }
};

TYPED_TEST_SUITE(SliceLayerTest, TestDtypesAndDevices);

TYPED_TEST(SliceLayerTest, EqualPartsOfTheChannels) {
  for (const char* layer :
       {"type: 'Slice'", "type: 'Slice' slice_param { axis: -3 }",
        "type: 'Slice' slice_param { slice_dim: 1 }"}) {
    this->Forward(layer);
    ASSERT_THAT(this->top_.shape(), ElementsAre(4, 3, 2, 3));
    ASSERT_THAT(this->top_b_.shape(), ElementsAre(4, 3, 2, 3));
    for (int n = 0; n < 4; ++n) {
      for (int c = 0; c < 6; ++c) {
        for (int i = 0; i < 6; ++i) {
          const auto& part = c < 3 ? this->top_ : this->top_b_;
          ASSERT_EQ(this->bottom_.data_at(n, c, i / 3, i % 3),
                    part.data_at(n, c % 3, i / 3, i % 3));
        }
      }
    }
  }
}

TYPED_TEST(SliceLayerTest, AtGivenPoints) {
  typedef typename TypeParam::Dtype Dtype;
  Blob<Dtype> top_c;
  this->tops_.push_back(&top_c);
  this->FillValues({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, &this->bottom_);
  this->Forward("type: 'Slice' slice_param { slice_point: 1 slice_point: 4 }");
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 6));
  EXPECT_THAT(this->DataOf(this->top_b_), ElementsAre(2, 3, 4, 7, 8, 9));
  EXPECT_THAT(this->DataOf(top_c), ElementsAre(5, 10));
  EXPECT_THAT(top_c.shape(), ElementsAre(2, 1));
}

TYPED_TEST(SliceLayerTest, OneTopIsShared) {
  this->tops_.resize(1);
  this->Forward("type: 'Slice'");
  EXPECT_EQ(this->bottom_.shape(), this->top_.shape());
  EXPECT_EQ(this->bottom_.cpu_data(), this->top_.cpu_data());
  EXPECT_EQ(this->bottom_.cpu_diff(), this->top_.cpu_diff());
}

TYPED_TEST(SliceLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillNormal({3, 4, 1, 2}, &this->bottom_);
  for (const char* settings :
       {"axis: 0 slice_point: 2", "axis: 1", "axis: 1 slice_point: 3"}) {
    const auto layer =
        this->Make(string("type: 'Slice' slice_param { ") + settings + " }");
    GradientChecker<Dtype>(1e-2, 1e-2)
        .CheckGradientExhaustive(layer.get(), this->bottoms_, this->tops_);
  }
}

TYPED_TEST(SliceLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'Slice' slice_param { " + settings + " }");
  };
  EXPECT_THAT(error("axis: 1 slice_dim: 1"), HasSubstr("not both"));
  EXPECT_THAT(error("axis: 4"), HasSubstr("axis 4"));
  EXPECT_THAT(error("slice_dim: 4294967295"), HasSubstr("axis 4294967295"));
  EXPECT_THAT(error("slice_point: 1 slice_point: 2"),
              HasSubstr("one slice_point less than it has tops: 1, not 2"));
  EXPECT_THAT(error("slice_point: 0"), HasSubstr("0 follows 0"));
  EXPECT_THAT(error("slice_point: 6"), HasSubstr("slice_point 6"));
  EXPECT_THAT(error("slice_point: 4294967295"), HasSubstr("4294967295"));
  EXPECT_THAT(error("axis: 3"), HasSubstr("cannot cut 3 along axis 3 into 2"));
  this->tops_[1] = &this->bottom_;
  EXPECT_THAT(error(""), HasSubstr("in place"));
}

}  // namespace caffe
