#include "caffe/layers/im2col_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

string Im2col(const string& settings) {
  return "type: 'Im2col' convolution_param { " + settings + " }";
}

template <typename TypeParam>
class Im2colLayerTest : public LayerTest<TypeParam> {
 protected:
  Im2colLayerTest() { this->FillNormal({2, 3, 6, 5}, &this->bottom_); }
};

TYPED_TEST_SUITE(Im2colLayerTest, TestDtypesAndDevices);

TYPED_TEST(Im2colLayerTest, WindowsBecomeChannels) {
  this->Forward(Im2col("kernel_size: 3 stride: 2 pad: 1 dilation: 2"));
  ASSERT_THAT(this->top_.shape(), ElementsAre(2, 27, 2, 2));
  for (int i = 0; i < this->top_.count(); ++i) {
    const int n = i / 4 / 27;
    const int c = i / 4 / 9 % 3;
    const int y = i / 2 % 2 * 2 - 1 + i / 4 / 3 % 3 * 2;
    const int x = i % 2 * 2 - 1 + i / 4 % 3 * 2;
    const bool is_inside = y >= 0 && y < 6 && x >= 0 && x < 5;
    ASSERT_EQ(is_inside ? this->bottom_.data_at(n, c, y, x) : 0,
              this->top_.cpu_data()[i]);
  }
}

TYPED_TEST(Im2colLayerTest, OneSpatialAxis) {
  this->FillValues({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, &this->bottom_);
  this->Forward(Im2col("kernel_size: 2"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(1, 4, 3));
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(1, 2, 3, 2, 3, 4, 5, 6, 7, 6, 7, 8));
  // The first axis may have channels, too: then all are one image.
  this->Forward(Im2col("kernel_size: 1 kernel_size: 2 axis: 0"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 3));
  EXPECT_THAT(this->DataOf(this->top_),
              ElementsAre(1, 2, 3, 5, 6, 7, 2, 3, 4, 6, 7, 8));
}

TYPED_TEST(Im2colLayerTest, Gradient) {
  this->FillNormal({2, 2, 4, 3}, &this->bottom_);
  for (const char* settings :
       {"kernel_size: 2 stride: 2", "kernel_h: 2 kernel_w: 3 pad: 1",
        "kernel_size: 2 dilation: 2 force_nd_im2col: true"}) {
    this->CheckGradients(Im2col(settings), 1e-2, 1e-2);
  }
}

TYPED_TEST(Im2colLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'Im2col'"),
              HasSubstr("kernel_size must be given"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 0")),
              HasSubstr("kernel_size must be from 1"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 3 kernel_h: 3")),
              HasSubstr("not by both"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 7")),
              HasSubstr("does not fit into 6"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 1 axis: 3")),
              HasSubstr("at least one axis behind the channels"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 1000000 pad: 1000000000")),
              HasSubstr("its windows have more than"));
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 1 pad: 2147483647")),
              HasSubstr("there are more than 2147483647 windows"));
  const auto layer = this->SetUp(Im2col("kernel_size: 2"));
  this->bottom_.Reshape({2, 3, 6});
  EXPECT_THAT(ErrorOf([&] { layer->Reshape(this->bottoms_, this->tops_); }),
              HasSubstr("set up for bottoms of 4 axes"));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError(Im2col("kernel_size: 2")),
              HasSubstr("in place"));
}

}  // namespace caffe
