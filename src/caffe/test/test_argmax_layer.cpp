#include "caffe/layers/argmax_layer.hpp"

#include <cmath>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class ArgMaxLayerTest : public LayerTest<TypeParam> {
 protected:
  ArgMaxLayerTest() {
    // Two images of two channels of three values.
    this->FillValues({2, 2, 3}, {1, 9, 3, 7, 5, 6, -1, -2, -3, -4, -5, 0},
                     &this->bottom_);
  }
};

TYPED_TEST_SUITE(ArgMaxLayerTest, TestDtypesAndDevices);

TYPED_TEST(ArgMaxLayerTest, IndicesAmongAllValuesOfAnImage) {
  this->Forward("type: 'ArgMax'");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 1, 1));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 5));
  this->Forward("type: 'ArgMax' argmax_param { top_k: 3 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 1, 3));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 3, 5, 5, 0, 1));
}

TYPED_TEST(ArgMaxLayerTest, IndicesAndValues) {
  this->Forward("type: 'ArgMax' argmax_param { top_k: 2 out_max_val: true }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 2));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 3, 9, 7, 5, 0, 0, -1));
}

TYPED_TEST(ArgMaxLayerTest, TopsHaveAsManyAxesAsBottoms) {
  this->bottom_.Reshape({2, 2, 1, 1, 3});
  this->Forward("type: 'ArgMax' argmax_param { top_k: 2 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 1, 2, 1, 1));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 3, 5, 0));
}

TYPED_TEST(ArgMaxLayerTest, AlongAnAxis) {
  this->Forward("type: 'ArgMax' argmax_param { axis: 1 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 1, 3));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 0, 1, 0, 0, 1));
  this->Forward(
      "type: 'ArgMax' argmax_param { axis: -1 top_k: 2 out_max_val: true }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 2));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(9, 3, 7, 6, -1, -2, 0, -4));
}

TYPED_TEST(ArgMaxLayerTest, OfEqualValuesTheHigherIndexAndNoNumbersLast) {
  this->FillValues({1, 5}, {2, 7, NAN, 7, 2}, &this->bottom_);
  this->Forward("type: 'ArgMax' argmax_param { top_k: 5 }");
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(3, 1, 4, 0, 2));
}

// Enough for more than one thread.
TYPED_TEST(ArgMaxLayerTest, OfManyValues) {
  this->FillNormal({40, 500, 4}, &this->bottom_);
  this->Forward("type: 'ArgMax' argmax_param { axis: 1 out_max_val: true }");
  for (int n = 0; n < 40; ++n) {
    for (int i = 0; i < 4; ++i) {
      auto largest = this->bottom_.data_at({n, 0, i});
      for (int c = 1; c < 500; ++c) {
        largest = std::max(largest, this->bottom_.data_at({n, c, i}));
      }
      ASSERT_EQ(largest, this->top_.data_at({n, 0, i}));
    }
  }
}

TYPED_TEST(ArgMaxLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'ArgMax' argmax_param { " + settings + " }");
  };
  EXPECT_THAT(error("top_k: 0"), HasSubstr("top_k must be from 1"));
  EXPECT_THAT(error("top_k: 7"), HasSubstr("only 6 values to choose from"));
  EXPECT_THAT(error("top_k: 4 axis: 2"),
              HasSubstr("only 3 values to choose from"));
  EXPECT_THAT(error("axis: 3"), HasSubstr("axis 3"));
  const auto layer = this->Forward("type: 'ArgMax'");
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  this->bottom_.Reshape(vector<int>());
  EXPECT_THAT(error(""), HasSubstr("more than one number"));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(error(""), HasSubstr("in place"));
}

}  // namespace caffe
