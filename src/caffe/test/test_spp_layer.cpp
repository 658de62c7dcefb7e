#include "caffe/layers/spp_layer.hpp"

#include <algorithm>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

string Spp(const string& settings) {
  return "type: 'SPP' spp_param { " + settings + " }";
}

template <typename TypeParam>
class SPPLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SPPLayerTest() { this->FillNormal({2, 3, 9, 8}, &this->bottom_); }

  // The largest value of a bin of a grid of bins x bins windows over the image,
  // which lie as centred as they can.
  Dtype Largest(int n, int c, int bins, int row, int column) const {
    const auto range = [bins](int extent, int bin, int* begin, int* end) {
      const int size = (extent + bins - 1) / bins;
      const int pad = (size * bins - extent + 1) / 2;
      *begin = std::max(0, bin * size - pad);
      *end = std::min(extent, bin * size - pad + size);
    };
    int top, bottom, left, right;
    range(this->bottom_.height(), row, &top, &bottom);
    range(this->bottom_.width(), column, &left, &right);
    Dtype largest = this->bottom_.data_at(n, c, top, left);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        largest = std::max(largest, this->bottom_.data_at(n, c, y, x));
      }
    }
    return largest;
  }

  void ExpectMaxima(int levels) {
    const int channels = this->bottom_.channels();
    for (int n = 0; n < this->bottom_.num(); ++n) {
      const Dtype* value = this->top_.cpu_data() + n * this->top_.count(1);
      for (int level = 0; level < levels; ++level) {
        const int bins = 1 << level;
        for (int i = 0; i < channels * bins * bins; ++i) {
          ASSERT_EQ(
              Largest(n, i / bins / bins, bins, i / bins % bins, i % bins),
              *value++)
              << "image " << n << ", level " << level << ", value " << i;
        }
      }
    }
  }
};

TYPED_TEST_SUITE(SPPLayerTest, TestDtypesAndDevices);

TYPED_TEST(SPPLayerTest, MaximaOfEveryLevel) {
  this->Forward(Spp("pyramid_height: 3"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 3 * (1 + 4 + 16)));
  this->ExpectMaxima(3);
  this->Forward(Spp("pyramid_height: 1"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 3));
  this->ExpectMaxima(1);
}

TYPED_TEST(SPPLayerTest, AveragesByHand) {
  this->FillValues({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, &this->bottom_);
  this->Forward(Spp("pyramid_height: 2 pool: AVE"));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(4.5, 1.5, 3.5, 5.5, 7.5));
}

TYPED_TEST(SPPLayerTest, ImagesOfAnySize) {
  const auto layer = this->Forward(Spp("pyramid_height: 3"));
  for (const vector<int>& shape :
       vector<vector<int>>{{1, 3, 7, 12}, {3, 3, 16, 4}, {1, 3, 16, 4}}) {
    this->FillNormal(shape, &this->bottom_);
    layer->Forward(this->bottoms_, this->tops_);
    EXPECT_THAT(this->top_.shape(), ElementsAre(shape[0], 63));
    this->ExpectMaxima(3);
  }
}

TYPED_TEST(SPPLayerTest, Gradient) {
  this->FillNormal({1, 2, 4, 5}, &this->bottom_);
  for (const char* settings :
       {"pyramid_height: 1", "pyramid_height: 2", "pyramid_height: 2 pool: AVE",
        "pyramid_height: 2 engine: CAFFE"}) {
    this->CheckGradients(Spp(settings), 1e-4, 1e-2);
  }
}

TYPED_TEST(SPPLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'SPP'"),
              HasSubstr("pyramid_height must be from 1"));
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 40")), HasSubstr("not 40"));
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 4")),
              HasSubstr("level 3 of its pyramid is too fine for images of 9 x "
                        "8"));
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 2 pool: STOCHASTIC")),
              HasSubstr("cannot pad"));
  this->bottom_.Reshape({2, 3, 0, 8});
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 1")),
              HasSubstr("cannot pool images of shape"));
  this->bottom_.Reshape({2, 3, 8});
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 1")), HasSubstr("4 axes"));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError(Spp("pyramid_height: 1")),
              HasSubstr("in place"));
}

}  // namespace caffe
