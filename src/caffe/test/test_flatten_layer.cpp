#include "caffe/layers/flatten_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class FlattenLayerTest : public LayerTest<TypeParam> {
 protected:
  FlattenLayerTest() { this->FillNormal({2, 3, 6, 5}, &this->bottom_); }

  vector<int> Shape(const string& settings) {
    this->SetUp("type: 'Flatten' flatten_param { " + settings + " }");
    return this->top_.shape();
  }
};

TYPED_TEST_SUITE(FlattenLayerTest, TestDtypesAndDevices);

TYPED_TEST(FlattenLayerTest, Shapes) {
  EXPECT_THAT(this->Shape(""), ElementsAre(2, 90));
  EXPECT_THAT(this->Shape("axis: 2"), ElementsAre(2, 3, 30));
  EXPECT_THAT(this->Shape("axis: -1"), ElementsAre(2, 3, 6, 5));
  EXPECT_THAT(this->Shape("axis: 0"), ElementsAre(180));
  EXPECT_THAT(this->Shape("axis: 0 end_axis: 1"), ElementsAre(6, 6, 5));
  EXPECT_THAT(this->Shape("end_axis: -2"), ElementsAre(2, 18, 5));
  EXPECT_THAT(this->Shape("axis: -3 end_axis: 2"), ElementsAre(2, 18, 5));
}

TYPED_TEST(FlattenLayerTest, SharesMemory) {
  const auto layer = this->SetUp("type: 'Flatten'");
  EXPECT_EQ(this->bottom_.data(), this->top_.data());
  EXPECT_EQ(this->bottom_.diff(), this->top_.diff());
  // Also when the bottom has got other memory.
  this->bottom_.Reshape({3, 3, 6, 5});
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_EQ(this->bottom_.data(), this->top_.data());
  EXPECT_EQ(this->bottom_.diff(), this->top_.diff());
}

TYPED_TEST(FlattenLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Make("type: 'Flatten'");
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
}

TYPED_TEST(FlattenLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'Flatten' flatten_param { " + settings +
                            " }");
  };
  EXPECT_THAT(error("axis: 2 end_axis: 1"), HasSubstr("end_axis 1"));
  EXPECT_THAT(error("axis: 4"), HasSubstr("axis 4 is out of range"));
  EXPECT_THAT(error("end_axis: -5"), HasSubstr("axis -5 is out of range"));
  this->tops_ = this->bottoms_;
  EXPECT_THAT(error(""), HasSubstr("in place"));
}

}  // namespace caffe
