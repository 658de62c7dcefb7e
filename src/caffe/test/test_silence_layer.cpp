#include "caffe/layers/silence_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

template <typename TypeParam>
class SilenceLayerTest : public LayerTest<TypeParam> {};

TYPED_TEST_SUITE(SilenceLayerTest, TestDtypesAndDevices);

TYPED_TEST(SilenceLayerTest, HasNoTopsAndNoGradients) {
  typedef typename TypeParam::Dtype Dtype;
  this->tops_.clear();
  this->bottoms_ = {&this->bottom_, &this->bottom_b_};
  for (Blob<Dtype>* bottom : this->bottoms_) {
    this->FillNormal({2, 3}, bottom);
    caffe_set(6, Dtype(5), bottom->mutable_cpu_diff());
  }
  const vector<Dtype> before = this->DataOf(this->bottom_);
  const auto layer = this->Forward("type: 'Silence'");
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_EQ(before, this->DataOf(this->bottom_));
  EXPECT_EQ(vector<Dtype>(6, 0), this->DiffOf(this->bottom_));
  EXPECT_EQ(vector<Dtype>(6, 5), this->DiffOf(this->bottom_b_));
}

TYPED_TEST(SilenceLayerTest, RefusesTops) {
  this->FillNormal({2, 3}, &this->bottom_);
  EXPECT_THAT(this->SetUpError("type: 'Silence'"),
              testing::HasSubstr("takes 0 top"));
}

}  // namespace caffe
