#include "caffe/layers/reshape_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class ReshapeLayerTest : public LayerTest<TypeParam> {
 protected:
  ReshapeLayerTest() { this->FillNormal({2, 3, 6, 5}, &this->bottom_); }

  static string Layer(const string& dims, const string& rest) {
    string shape;
    std::istringstream stream(dims);
    for (string dim; stream >> dim;) shape += "dim: " + dim + " ";
    return "type: 'Reshape' reshape_param { shape { " + shape + "} " + rest +
           " }";
  }
  vector<int> Shape(const string& dims, const string& rest = "") {
    this->SetUp(Layer(dims, rest));
    return this->top_.shape();
  }
  string ErrorOf(const string& dims, const string& rest = "") {
    return this->SetUpError(Layer(dims, rest));
  }
};

TYPED_TEST_SUITE(ReshapeLayerTest, TestDtypesAndDevices);

TYPED_TEST(ReshapeLayerTest, Shapes) {
  EXPECT_THAT(this->Shape("4 45"), ElementsAre(4, 45));
  EXPECT_THAT(this->Shape("0 -1 1 1"), ElementsAre(2, 90, 1, 1));
  EXPECT_THAT(this->Shape("0 0 0 0"), ElementsAre(2, 3, 6, 5));
  EXPECT_THAT(this->Shape("0 0 -1"), ElementsAre(2, 3, 30));
  EXPECT_THAT(this->Shape("-1"), ElementsAre(180));
  EXPECT_THAT(this->Shape("0 0 2 -1"), ElementsAre(2, 3, 2, 15));
}

TYPED_TEST(ReshapeLayerTest, ReplacesSomeAxesOnly) {
  EXPECT_THAT(this->Shape("3 2", "axis: 2 num_axes: 1"),
              ElementsAre(2, 3, 3, 2, 5));
  EXPECT_THAT(this->Shape("0 -1", "axis: 1"), ElementsAre(2, 3, 30));
  EXPECT_THAT(this->Shape("-1", "axis: 1 num_axes: 2"), ElementsAre(2, 18, 5));
  // With no axes replaced, it inserts; -1 is the place after the last axis.
  EXPECT_THAT(this->Shape("1", "axis: 0 num_axes: 0"),
              ElementsAre(1, 2, 3, 6, 5));
  EXPECT_THAT(this->Shape("1 1", "axis: -1 num_axes: 0"),
              ElementsAre(2, 3, 6, 5, 1, 1));
  EXPECT_THAT(this->Shape("1", "axis: -2 num_axes: 0"),
              ElementsAre(2, 3, 6, 1, 5));
  EXPECT_THAT(this->Shape("10 3", "axis: -3"), ElementsAre(2, 3, 10, 3));
}

TYPED_TEST(ReshapeLayerTest, SharesMemory) {
  this->Forward(this->Layer("0 -1", ""));
  EXPECT_EQ(this->bottom_.cpu_data(), this->top_.cpu_data());
  EXPECT_EQ(this->bottom_.cpu_diff(), this->top_.cpu_diff());
}

TYPED_TEST(ReshapeLayerTest, FollowsABottomThatChanges) {
  const auto layer = this->SetUp(this->Layer("0 -1", ""));
  this->FillNormal({7, 4, 10, 2}, &this->bottom_);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->top_.shape(), ElementsAre(7, 80));
  EXPECT_EQ(this->bottom_.cpu_data(), this->top_.cpu_data());
}

TYPED_TEST(ReshapeLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Make(this->Layer("0 -1", ""));
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
}

TYPED_TEST(ReshapeLayerTest, Refuses) {
  EXPECT_THAT(this->ErrorOf("-1 -1"), HasSubstr("only one -1"));
  EXPECT_THAT(this->ErrorOf("-2"), HasSubstr("extent -2"));
  EXPECT_THAT(this->ErrorOf("9000000000"), HasSubstr("extent 9000000000"));
  EXPECT_THAT(this->ErrorOf("100000 100000"), HasSubstr("more than"));
  EXPECT_THAT(this->ErrorOf("4 44"), HasSubstr("cannot give 180 values"));
  EXPECT_THAT(this->ErrorOf("7 -1"), HasSubstr("cannot be divided"));
  EXPECT_THAT(this->ErrorOf("0 0 0 0 0"), HasSubstr("has no axis"));
  EXPECT_THAT(this->ErrorOf("-1", "axis: 5"), HasSubstr("axis 5"));
  EXPECT_THAT(this->ErrorOf("-1", "axis: -6"), HasSubstr("axis -6"));
  EXPECT_THAT(this->ErrorOf("-1", "axis: 1 num_axes: 4"),
              HasSubstr("at most 3"));
  EXPECT_THAT(this->ErrorOf("-1", "num_axes: -2"), HasSubstr("num_axes"));
  EXPECT_THAT(this->ErrorOf("-1", "num_axes: 2147483647"),
              HasSubstr("num_axes"));
  this->bottom_.Reshape(vector<int>{0, 3});
  EXPECT_THAT(this->ErrorOf("0 -1"), HasSubstr("cannot be divided"));
  this->tops_ = this->bottoms_;
  EXPECT_THAT(this->ErrorOf("-1"), HasSubstr("in place"));
}

}  // namespace caffe
