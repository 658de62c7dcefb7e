#include "caffe/layers/input_layer.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

template <typename TypeParam>
class InputLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  // Sets a layer up with the two tops and so many shapes {2, 3}, {3, 3}, ...
  void SetUpWithShapes(int num_shapes) {
    LayerParameter param;
    for (int i = 0; i < num_shapes; ++i) {
      BlobShape* shape = param.mutable_input_param()->add_shape();
      shape->add_dim(2 + i);
      shape->add_dim(3);
    }
    InputLayer<Dtype> layer(param);
    layer.SetUp({}, {&a_, &b_});
    layer.Forward({}, {&a_, &b_});
  }

  Blob<Dtype> a_;
  Blob<Dtype> b_;
};

TYPED_TEST_SUITE(InputLayerTest, TestDtypesAndDevices);

TYPED_TEST(InputLayerTest, OneShapeServesAllTops) {
  this->SetUpWithShapes(1);
  EXPECT_EQ((vector<int>{2, 3}), this->a_.shape());
  EXPECT_EQ((vector<int>{2, 3}), this->b_.shape());
}

TYPED_TEST(InputLayerTest, OneShapeForEachTop) {
  this->SetUpWithShapes(2);
  EXPECT_EQ((vector<int>{2, 3}), this->a_.shape());
  EXPECT_EQ((vector<int>{3, 3}), this->b_.shape());
}

TYPED_TEST(InputLayerTest, WithoutShapesTopsStayAsTheyAre) {
  this->a_.Reshape({7});
  this->a_.mutable_cpu_data()[6] = 5;
  this->SetUpWithShapes(0);
  EXPECT_EQ((vector<int>{7}), this->a_.shape());
  EXPECT_EQ(5, this->a_.cpu_data()[6]);
}

TYPED_TEST(InputLayerTest, RejectsAnotherNumberOfShapes) {
  try {
    this->SetUpWithShapes(3);
    FAIL() << "three shapes for two tops were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("3 shapes for 2 tops"));
  }
}

}  // namespace caffe
