#include "caffe/layers/embed_layer.hpp"

#include <cmath>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPlain[] =
    "type: 'Embed' embed_param { num_output: 2 input_dim: 3 bias_term: false "
    "weight_filler { type: 'gaussian' } }";
constexpr char kBiased[] =
    "type: 'Embed' embed_param { num_output: 2 input_dim: 3 "
    "weight_filler { type: 'gaussian' } bias_filler { type: 'gaussian' } }";

template <typename TypeParam>
class EmbedLayerTest : public LayerTest<TypeParam> {
 protected:
  EmbedLayerTest() { this->FillValues({2, 2}, {1, 0, 1, 2}, &this->bottom_); }
};

TYPED_TEST_SUITE(EmbedLayerTest, TestDtypesAndDevices);

TYPED_TEST(EmbedLayerTest, IndicesBecomeRowsOfTheWeights) {
  const auto layer = this->SetUp(kBiased);
  ASSERT_EQ(2, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[0]->shape(), ElementsAre(3, 2));
  EXPECT_THAT(layer->blobs()[1]->shape(), ElementsAre(2));
  this->FillValues({3, 2}, {1, 2, 3, 4, 5, 6}, layer->blobs()[0].get());
  this->FillValues({2}, {10, 20}, layer->blobs()[1].get());
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 2));
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(13, 24, 11, 22, 13, 24, 15, 26));
}

TYPED_TEST(EmbedLayerTest, GradientsOfRowsAddUp) {
  const auto layer = this->Forward(kPlain);
  ASSERT_EQ(1, layer->blobs().size());
  for (int i = 0; i < 8; ++i) this->top_.mutable_cpu_diff()[i] = 1 << i;
  caffe_set(6, typename TypeParam::Dtype(1000),
            layer->blobs()[0]->mutable_cpu_diff());
  layer->Backward(this->tops_, {false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(*layer->blobs()[0]),
              ElementsAre(1004, 1008, 1017, 1034, 1064, 1128));
}

TYPED_TEST(EmbedLayerTest, Gradient) {
  for (const char* layer : {kPlain, kBiased}) {
    this->CheckGradients(layer, 1e-2, 1e-2, -2);
  }
}

TYPED_TEST(EmbedLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'Embed' embed_param { input_dim: 3 }"),
              HasSubstr("num_output must be from 1"));
  EXPECT_THAT(this->SetUpError("type: 'Embed' embed_param { num_output: 3 }"),
              HasSubstr("input_dim must be from 1"));
  const auto layer = this->Forward(kPlain);
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  for (const double index : {3., -1., double(NAN)}) {
    this->bottom_.mutable_cpu_data()[2] = index;
    EXPECT_THAT(ErrorOf([&] { layer->Forward(this->bottoms_, this->tops_); }),
                HasSubstr("(number 2) is not one of the 3 rows"));
  }
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError(kPlain), HasSubstr("in place"));
}

}  // namespace caffe
