#include "caffe/layers/batch_reindex_layer.hpp"

#include <cmath>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLayer[] = "type: 'BatchReindex'";

template <typename TypeParam>
class BatchReindexLayerTest : public LayerTest<TypeParam> {
 protected:
  BatchReindexLayerTest() {
    this->bottoms_.push_back(&this->bottom_b_);
    this->FillValues({3, 1, 2}, {1, 2, 3, 4, 5, 6}, &this->bottom_);
    this->FillValues({4}, {2, 0, 2, 2}, &this->bottom_b_);
  }
};

TYPED_TEST_SUITE(BatchReindexLayerTest, TestDtypesAndDevices);

TYPED_TEST(BatchReindexLayerTest, PicksItems) {
  this->Forward(kLayer);
  EXPECT_THAT(this->top_.shape(), ElementsAre(4, 1, 2));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(5, 6, 1, 2, 5, 6, 5, 6));
}

TYPED_TEST(BatchReindexLayerTest, GradientsOfAnItemAddUp) {
  const auto layer = this->Forward(kLayer);
  for (int i = 0; i < 8; ++i) this->top_.mutable_cpu_diff()[i] = 1 << i;
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_),
              ElementsAre(4, 8, 0, 0, 1 + 16 + 64, 2 + 32 + 128));
}

TYPED_TEST(BatchReindexLayerTest, NoIndicesGiveAnEmptyBatch) {
  this->bottom_b_.Reshape(vector<int>{0});
  const auto layer = this->Forward(kLayer);
  EXPECT_THAT(this->top_.shape(), ElementsAre(0, 1, 2));
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0, 0, 0, 0, 0, 0));
}

TYPED_TEST(BatchReindexLayerTest, Gradient) {
  this->CheckGradients(kLayer, 1e-2, 1e-2, 0);
}

TYPED_TEST(BatchReindexLayerTest, Refuses) {
  const auto layer = this->SetUp(kLayer);
  for (const double index : {3., -1., double(NAN)}) {
    this->bottom_b_.mutable_cpu_data()[1] = index;
    EXPECT_THAT(ErrorOf([&] { layer->Forward(this->bottoms_, this->tops_); }),
                HasSubstr("(number 1) is not one of the 3 items"));
  }
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  this->bottom_b_.Reshape({2, 2});
  EXPECT_THAT(this->SetUpError(kLayer), HasSubstr("indices along one axis"));
  this->bottom_b_.Reshape({4});
  this->bottom_.Reshape(vector<int>());
  EXPECT_THAT(this->SetUpError(kLayer), HasSubstr("a single number"));
  this->tops_ = {&this->bottom_b_};
  EXPECT_THAT(this->SetUpError(kLayer), HasSubstr("in place"));
}

}  // namespace caffe
