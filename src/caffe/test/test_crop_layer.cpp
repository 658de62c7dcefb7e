#include "caffe/layers/crop_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

string Crop(const string& settings) {
  return "type: 'Crop' crop_param { " + settings + " }";
}

template <typename TypeParam>
class CropLayerTest : public LayerTest<TypeParam> {
 protected:
  CropLayerTest() {
    this->bottoms_.push_back(&this->bottom_b_);
    this->FillNormal({2, 4, 5, 6}, &this->bottom_);
    this->FillNormal({2, 3, 4, 2}, &this->bottom_b_);
  }

  // The top must be the part of the bottom that begins there.
  void ExpectCut(const vector<int>& begin) {
    for (int i = 0; i < this->top_.count(); ++i) {
      vector<int> at = begin;
      for (int axis = 0; axis < 4; ++axis) {
        at[axis] += i / this->top_.count(axis + 1) % this->top_.shape(axis);
      }
      ASSERT_EQ(this->bottom_.data_at(at), this->top_.cpu_data()[i]);
    }
  }
};

TYPED_TEST_SUITE(CropLayerTest, TestDtypesAndDevices);

TYPED_TEST(CropLayerTest, HeightAndWidthUnlessToldOtherwise) {
  this->Forward("type: 'Crop'");
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 4, 4, 2));
  this->ExpectCut({0, 0, 0, 0});
}

TYPED_TEST(CropLayerTest, Offsets) {
  this->Forward(Crop("offset: 1"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 4, 4, 2));
  this->ExpectCut({0, 0, 1, 1});
  this->Forward(Crop("axis: 1 offset: 1 offset: 0 offset: 4"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 3, 4, 2));
  this->ExpectCut({0, 1, 0, 4});
  this->bottom_b_.Reshape({1, 1, 1, 1});
  this->Forward(Crop("axis: -4 offset: 1"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(1, 1, 1, 1));
  this->ExpectCut({1, 1, 1, 1});
}

// Enough for more than one thread.
TYPED_TEST(CropLayerTest, LargeImages) {
  this->FillNormal({2, 3, 100, 120}, &this->bottom_);
  this->bottom_b_.Reshape({2, 3, 90, 100});
  this->Forward(Crop("offset: 7 offset: 9"));
  this->ExpectCut({0, 0, 7, 9});
}

TYPED_TEST(CropLayerTest, AroundTheCutGradientsAreZero) {
  this->bottom_.Reshape({1, 1, 2, 3});
  this->bottom_b_.Reshape({1, 1, 1, 2});
  const auto layer = this->Forward(Crop("offset: 1"));
  this->top_.mutable_cpu_diff()[0] = 5;
  this->top_.mutable_cpu_diff()[1] = 7;
  caffe_set(2, typename TypeParam::Dtype(99),
            this->bottom_b_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0, 0, 0, 0, 5, 7));
  EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(0, 0));
}

TYPED_TEST(CropLayerTest, Gradient) {
  this->FillNormal({2, 2, 2, 3}, &this->bottom_);
  this->FillNormal({1, 1, 2, 2}, &this->bottom_b_);
  this->CheckGradients(Crop("axis: 1 offset: 1 offset: 0 offset: 1"), 1e-2,
                       1e-2);
}

TYPED_TEST(CropLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError(Crop(settings));
  };
  EXPECT_THAT(error("axis: 4"), HasSubstr("axis 4"));
  EXPECT_THAT(error("axis: 1 offset: 1 offset: 1"),
              HasSubstr("each of the 3 axes to crop, not 2 times"));
  EXPECT_THAT(error("offset: 2"),
              HasSubstr("cannot take 4 values from 2 on of axis 2"));
  EXPECT_THAT(error("offset: 4294967295"), HasSubstr("from 4294967295 on"));
  EXPECT_THAT(error("axis: 0 offset: 1"),
              HasSubstr("cannot take 2 values from 1 on of axis 0"));
  this->bottom_b_.Reshape({2, 3, 4});
  EXPECT_THAT(error(""), HasSubstr("the number of axes does not fit"));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(error(""), HasSubstr("in place"));
}

}  // namespace caffe
