#include "caffe/layers/dummy_data_layer.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

using ::testing::HasSubstr;

template <typename TypeParam>
class DummyDataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  DummyDataLayerTest() { Caffe::set_random_seed(1701); }

  void SetUpLayer(const string& settings) {
    LayerParameter param;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        settings, param.mutable_dummy_data_param()));
    layer_.reset(new DummyDataLayer<Dtype>(param));
    layer_->SetUp({}, {&a_, &b_, &c_});
  }

  void Forward() { layer_->Forward({}, {&a_, &b_, &c_}); }

  // The sentence with which the settings are refused.
  string Complaint(const string& settings) {
    try {
      SetUpLayer(settings);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  static vector<Dtype> Values(const Blob<Dtype>& blob) {
    return vector<Dtype>(blob.cpu_data(), blob.cpu_data() + blob.count());
  }

  shared_ptr<DummyDataLayer<Dtype>> layer_;
  Blob<Dtype> a_;
  Blob<Dtype> b_;
  Blob<Dtype> c_;
};

TYPED_TEST_SUITE(DummyDataLayerTest, TestDtypesAndDevices);

TYPED_TEST(DummyDataLayerTest, IsZeroWithoutFiller) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer("shape { dim: 2 dim: 3 }");
  EXPECT_EQ((vector<int>{2, 3}), this->a_.shape());
  EXPECT_EQ((vector<int>{2, 3}), this->c_.shape());
  EXPECT_EQ(vector<Dtype>(6, 0), this->Values(this->b_));
}

TYPED_TEST(DummyDataLayerTest, OneConstantForAllTops) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer(
      "shape { dim: 2 } shape { dim: 3 dim: 1 } shape { }"
      "data_filler { type: 'constant' value: 7 }");
  EXPECT_EQ((vector<int>{3, 1}), this->b_.shape());
  EXPECT_EQ(0, this->c_.num_axes());
  EXPECT_EQ(vector<Dtype>(2, 7), this->Values(this->a_));
  EXPECT_EQ(vector<Dtype>(3, 7), this->Values(this->b_));
  EXPECT_EQ(vector<Dtype>(1, 7), this->Values(this->c_));
}

TYPED_TEST(DummyDataLayerTest, LegacyExtentsMixOneAndEach) {
  this->SetUpLayer(
      "num: 5 channels: 1 channels: 2 channels: 3 height: 2 width: 4");
  EXPECT_EQ((vector<int>{5, 1, 2, 4}), this->a_.shape());
  EXPECT_EQ((vector<int>{5, 2, 2, 4}), this->b_.shape());
  EXPECT_EQ((vector<int>{5, 3, 2, 4}), this->c_.shape());
}

// A constant top is not touched again: what its user writes there stays.
TYPED_TEST(DummyDataLayerTest, RefillsOnlyWhatIsNotConstant) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer(
      "shape { dim: 10 }"
      "data_filler { type: 'gaussian' std: 1 }"
      "data_filler { type: 'constant' value: 3 }"
      "data_filler { type: 'uniform' min: 8 max: 9 }");
  EXPECT_EQ(vector<Dtype>(10, 3), this->Values(this->b_));
  this->Forward();
  const vector<Dtype> gaussian = this->Values(this->a_);
  const vector<Dtype> uniform = this->Values(this->c_);
  for (const Dtype value : uniform) {
    EXPECT_GE(value, 8);
    EXPECT_LE(value, 9);
  }
  this->b_.mutable_cpu_data()[0] = 4;
  this->Forward();
  EXPECT_NE(gaussian, this->Values(this->a_));
  EXPECT_NE(uniform, this->Values(this->c_));
  EXPECT_EQ(4, this->b_.cpu_data()[0]);
  EXPECT_EQ(3, this->b_.cpu_data()[1]);
}

// Set-up draws no random numbers, and Forward draws them top by top from the
// thread's generator, so a saved generator is all that a resume needs.
TYPED_TEST(DummyDataLayerTest, BatchSizeMayChange) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer(
      "shape { dim: 2 dim: 3 } shape { dim: 2 } shape { dim: 1 dim: 2 } "
      "data_filler { type: 'uniform' min: 4 max: 5 } data_filler { value: 7 } "
      "data_filler { value: 8 }");
  for (const int batch_size : {4, 3}) {
    const TightReshape tight;
    this->layer_->SetBatchSize(batch_size, {&this->a_, &this->b_, &this->c_});
    EXPECT_EQ(batch_size, this->layer_->batch_size());
    this->Forward();
    EXPECT_EQ((vector<int>{batch_size, 3}), this->a_.shape());
    EXPECT_GE(this->Values(this->a_).back(), 4);
    EXPECT_EQ(vector<Dtype>(batch_size, 7), this->Values(this->b_));
    EXPECT_EQ(vector<Dtype>(2, 8), this->Values(this->c_));
  }
}

TYPED_TEST(DummyDataLayerTest, DrawsFromTheGeneratorOfTheThread) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer("shape { dim: 10 } data_filler { type: 'gaussian' }");
  this->Forward();
  Caffe::set_random_seed(1701);
  FillerParameter gaussian;
  gaussian.set_type("gaussian");
  shared_ptr<Filler<Dtype>> filler(GetFiller<Dtype>(gaussian));
  Blob<Dtype> expected(vector<int>{10});
  filler->Fill(&expected);
  EXPECT_EQ(this->Values(expected), this->Values(this->a_));
  filler->Fill(&expected);
  EXPECT_EQ(this->Values(expected), this->Values(this->b_));
}

TYPED_TEST(DummyDataLayerTest, ExplainsBadSettings) {
  EXPECT_THAT(this->Complaint(""), HasSubstr("0 shapes for 3 tops"));
  EXPECT_THAT(this->Complaint("shape { dim: 1 } shape { dim: 1 }"),
              HasSubstr("2 shapes for 3 tops"));
  EXPECT_THAT(this->Complaint("shape { dim: 1 } num: 1"),
              HasSubstr("both shape and num"));
  EXPECT_THAT(this->Complaint("num: 1 channels: 1 height: 1"),
              HasSubstr("0 widths for 3 tops"));
  EXPECT_THAT(this->Complaint("shape { dim: 1 } data_filler { } "
                              "data_filler { }"),
              HasSubstr("2 data_fillers for 3 tops"));
  EXPECT_THAT(this->Complaint("shape { dim: 2 dim: 0 }"),
              HasSubstr("holds no values"));
  EXPECT_THAT(this->Complaint("shape { dim: -2 }"), HasSubstr("extent -2"));
  EXPECT_THAT(
      this->Complaint("shape { dim: 1 } data_filler { type: 'nonsense' }"),
      HasSubstr("nonsense"));
}

}  // namespace caffe
