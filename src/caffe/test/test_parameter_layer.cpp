#include "caffe/layers/parameter_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLayer[] =
    "type: 'Parameter' parameter_param { shape { dim: 2 dim: 3 } }";

template <typename TypeParam>
class ParameterLayerTest : public LayerTest<TypeParam> {
 protected:
  ParameterLayerTest() { this->bottoms_.clear(); }
};

TYPED_TEST_SUITE(ParameterLayerTest, TestDtypesAndDevices);

TYPED_TEST(ParameterLayerTest, TheTopHasTheParameter) {
  const auto layer = this->SetUp(kLayer);
  ASSERT_EQ(1, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[0]->shape(), ElementsAre(2, 3));
  EXPECT_THAT(this->DataOf(*layer->blobs()[0]), testing::Each(0));
  this->FillValues({2, 3}, {1, 2, 3, 4, 5, 6}, layer->blobs()[0].get());
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 3));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 3, 4, 5, 6));
}

TYPED_TEST(ParameterLayerTest, GradientsAddUp) {
  const auto layer = this->Forward(kLayer);
  for (int i = 0; i < 6; ++i) this->top_.mutable_cpu_diff()[i] = i;
  this->Backward(layer.get());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(*layer->blobs()[0]), ElementsAre(0, 2, 4, 6, 8, 10));
  layer->set_param_propagate_down(0, false);
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(*layer->blobs()[0]), ElementsAre(0, 2, 4, 6, 8, 10));
}

TYPED_TEST(ParameterLayerTest, TakesTheParameterItComesWith) {
  const string with_blob =
      string(kLayer) +
      " blobs { shape { dim: 2 dim: 3 } data: [ 6, 5, 4, 3, "
      "2, 1 ] }";
  this->Forward(with_blob);
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(6, 5, 4, 3, 2, 1));
}

TYPED_TEST(ParameterLayerTest, Gradient) {
  this->CheckGradients(kLayer, 1e-2, 1e-2);
}

TYPED_TEST(ParameterLayerTest, Refuses) {
  EXPECT_THAT(
      this->SetUpError(string(kLayer) +
                       " blobs { shape { dim: 2 } data: [ 1, 2 ] }"),
      HasSubstr("1 parameter blob of shape 2 3 (6), not 1, the first of shape "
                "2 (2)"));
  EXPECT_THAT(this->SetUpError("type: 'Parameter' parameter_param { shape { "
                               "dim: -2 } }"),
              HasSubstr("-2"));
}

}  // namespace caffe
