#include "caffe/layers/tile_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

string Tile(const string& settings) {
  return "type: 'Tile' tile_param { " + settings + " }";
}

template <typename TypeParam>
class TileLayerTest : public LayerTest<TypeParam> {
 protected:
  TileLayerTest() { this->FillValues({2, 2, 1}, {1, 2, 3, 4}, &this->bottom_); }
};

TYPED_TEST_SUITE(TileLayerTest, TestDtypesAndDevices);

TYPED_TEST(TileLayerTest, RepeatsAlongAnAxis) {
  this->Forward(Tile("tiles: 2"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 4, 1));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  this->Forward(Tile("tiles: 2 axis: 0"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(4, 2, 1));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  this->Forward(Tile("tiles: 3 axis: -1"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 3));
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4));
}

TYPED_TEST(TileLayerTest, GradientsOfTilesAddUp) {
  const auto layer = this->Forward(Tile("tiles: 2"));
  for (int i = 0; i < 8; ++i) this->top_.mutable_cpu_diff()[i] = 1 << i;
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(5, 10, 80, 160));
}

// Threads share rows.
TYPED_TEST(TileLayerTest, ManyValues) {
  this->FillNormal({3, 20011}, &this->bottom_);
  const auto layer = this->Forward(Tile("tiles: 4"));
  for (int i = 0; i < this->top_.count(); ++i) {
    this->top_.mutable_cpu_diff()[i] = i / 20011 % 4 + 1;
  }
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), testing::Each(10));
  for (int i = 0; i < this->top_.count(); ++i) {
    ASSERT_EQ(this->bottom_.cpu_data()[i / 80044 * 20011 + i % 20011],
              this->top_.cpu_data()[i]);
  }
}

TYPED_TEST(TileLayerTest, Gradient) {
  this->FillNormal({2, 3, 2}, &this->bottom_);
  for (const char* settings : {"tiles: 3", "tiles: 2 axis: 0", "tiles: 1"}) {
    this->CheckGradients(Tile(settings), 1e-2, 1e-2);
  }
}

TYPED_TEST(TileLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'Tile'"), HasSubstr("number of tiles"));
  EXPECT_THAT(this->SetUpError(Tile("tiles: 0")), HasSubstr("at least 1"));
  EXPECT_THAT(this->SetUpError(Tile("tiles: -1")), HasSubstr("not -1"));
  EXPECT_THAT(this->SetUpError(Tile("tiles: 2 axis: 3")), HasSubstr("axis 3"));
  EXPECT_THAT(this->SetUpError(Tile("tiles: 2147483647")),
              HasSubstr("more than 2147483647"));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError(Tile("tiles: 2")), HasSubstr("in place"));
}

}  // namespace caffe
