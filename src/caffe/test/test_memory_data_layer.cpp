#include "caffe/layers/memory_data_layer.hpp"

#include <gmock/gmock.h>

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "data_layer_test_util.hpp"

namespace caffe {

using ::testing::HasSubstr;

namespace {

vector<cv::Mat> Images(int count) {
  vector<cv::Mat> images(count);
  for (int i = 0; i < count; ++i) images[i] = NumberedImage(i, 4, 5, 3);
  return images;
}

}  // namespace

template <typename TypeParam>
class MemoryDataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  // A layer of batches of 2 images of 3 x 4 x 5 values.
  void SetUpLayer(const string& more = "") {
    LayerParameter param;
    CHECK(google::protobuf::TextFormat::ParseFromString(
        "memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 } " +
            more,
        &param));
    layer_ = std::make_unique<MemoryDataLayer<Dtype>>(param);
    layer_->SetUp({}, {&data_, &labels_});
  }

  void Forward() { layer_->Forward({}, {&data_, &labels_}); }

  // Runs Forward and expects these images with labels of ten times as much.
  void ExpectImages(int first, int second) {
    Forward();
    const int numbers[] = {first, second};
    for (int n = 0; n < 2; ++n) {
      EXPECT_EQ(10 * numbers[n], labels_.cpu_data()[n]);
      const cv::Mat image = NumberedImage(numbers[n], 4, 5, 3);
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(image.ptr(3)[4 * 3 + c], data_.data_at(n, c, 3, 4));
      }
    }
  }

  std::unique_ptr<MemoryDataLayer<Dtype>> layer_;
  Blob<Dtype> data_;
  Blob<Dtype> labels_;
};

TYPED_TEST_SUITE(MemoryDataLayerTest, TestDtypesAndDevices);

TYPED_TEST(MemoryDataLayerTest, SetUp) {
  this->SetUpLayer();
  EXPECT_EQ((vector<int>{2, 3, 4, 5}), this->data_.shape());
  EXPECT_EQ((vector<int>{2}), this->labels_.shape());
  EXPECT_EQ(2, this->layer_->batch_size());
  EXPECT_EQ(3, this->layer_->channels());
  EXPECT_EQ(4, this->layer_->height());
  EXPECT_EQ(5, this->layer_->width());
}

TYPED_TEST(MemoryDataLayerTest, ArraysAreUsedWhereTheyAre) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer();
  vector<Dtype> data(6 * 60);
  for (size_t i = 0; i < data.size(); ++i) data[i] = i;
  vector<Dtype> labels = {5, 4, 3, 2, 1, 0};
  this->layer_->Reset(data.data(), labels.data(), 6);
  for (int batch = 0; batch < 7; ++batch) {
    this->Forward();
    const int first = batch % 3 * 2;
    EXPECT_EQ(data.data() + first * 60, this->data_.cpu_data());
    EXPECT_EQ(labels[first + 1], this->labels_.cpu_data()[1]);
  }
}

TYPED_TEST(MemoryDataLayerTest, AddedMatricesAndDatums) {
  this->SetUpLayer();
  this->layer_->AddMatVector(Images(4), {0, 10, 20, 30});
  this->ExpectImages(0, 1);
  // More only when these are used up.
  EXPECT_THAT(ErrorOf([&] {
                this->layer_->AddMatVector(Images(2), {0, 10});
              }),
              HasSubstr("used up"));
  EXPECT_THAT(ErrorOf([&] { this->layer_->set_batch_size(4); }),
              HasSubstr("used up"));
  this->ExpectImages(2, 3);
  vector<Datum> datums(2);
  for (int i = 0; i < 2; ++i) {
    CVMatToDatum(NumberedImage(7 + i, 4, 5, 3), &datums[i]);
    datums[i].set_label(70 + 10 * i);
  }
  this->layer_->AddDatumVector(datums);
  this->ExpectImages(7, 8);
  this->ExpectImages(7, 8);
}

TYPED_TEST(MemoryDataLayerTest, ImagesAreTransformed) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer("transform_param { scale: 2 mean_value: 1 }");
  this->layer_->AddMatVector(Images(2), {0, 1});
  this->Forward();
  const int pixel = NumberedImage(1, 4, 5, 3).ptr(2)[3 * 3 + 1];
  EXPECT_EQ(Dtype(pixel - 1) * 2, this->data_.data_at(1, 1, 2, 3));
}

TYPED_TEST(MemoryDataLayerTest, BatchSizeCanChange) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer();
  vector<Dtype> data(6 * 60);
  vector<Dtype> labels = {0, 1, 2, 3, 4, 5};
  this->layer_->Reset(data.data(), labels.data(), 6);
  this->Forward();
  this->layer_->set_batch_size(3);
  for (int batch = 0; batch < 3; ++batch) {
    this->Forward();
    EXPECT_EQ((vector<int>{3, 3, 4, 5}), this->data_.shape());
    EXPECT_EQ(labels[batch % 2 * 3 + 2], this->labels_.cpu_data()[2]);
  }
  this->layer_->set_batch_size(4);
  EXPECT_THAT(ErrorOf([&] { this->Forward(); }), HasSubstr("multiple"));
}

TYPED_TEST(MemoryDataLayerTest, Refuses) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer();
  EXPECT_THAT(ErrorOf([&] { this->Forward(); }), HasSubstr("has no data"));
  EXPECT_THAT(ErrorOf([&] {
                this->layer_->AddMatVector(Images(3), {0, 1, 2});
              }),
              HasSubstr("multiple of the batch size, 2"));
  EXPECT_THAT(ErrorOf([&] { this->layer_->AddMatVector(Images(2), {0}); }),
              HasSubstr("2 images with 1 labels"));
  EXPECT_THROW(this->layer_->AddMatVector({}, {}), Error);
  EXPECT_THROW(this->layer_->AddDatumVector({}), Error);
  EXPECT_THROW(this->layer_->AddDatumVector(vector<Datum>(2)), Error);
  Dtype value = 0;
  EXPECT_THROW(this->layer_->Reset(&value, &value, 3), Error);
  EXPECT_THROW(this->layer_->set_batch_size(0), Error);
  // Images of another size.
  EXPECT_THROW(
      this->layer_->AddMatVector(
          {NumberedImage(0, 5, 4, 3), NumberedImage(1, 5, 4, 3)}, {0, 1}),
      Error);
}

TYPED_TEST(MemoryDataLayerTest, RefusesSettings) {
  typedef typename TypeParam::Dtype Dtype;
  for (const string settings :
       {"", "batch_size: 1 channels: 1 height: 1",
        "batch_size: 0 channels: 1 height: 1 width: 1",
        "batch_size: 65536 channels: 65536 height: 65536 width: 65536"}) {
    EXPECT_NE("", FeedComplaint<Dtype>(
                      "type: 'MemoryData' memory_data_param {" + settings + "}",
                      2, 0))
        << settings;
  }
}

TYPED_TEST(MemoryDataLayerTest, ResumesExactly) {
  typedef typename TypeParam::Dtype Dtype;
  const string transform = "transform_param { mirror: true }";
  const auto values = [this] {
    vector<Dtype> all;
    for (int i = 0; i < 5; ++i) {
      this->Forward();
      all.insert(all.end(), this->data_.cpu_data(),
                 this->data_.cpu_data() + this->data_.count());
      all.insert(all.end(), this->labels_.cpu_data(),
                 this->labels_.cpu_data() + 2);
    }
    return all;
  };
  vector<Dtype> data(6 * 60);
  for (size_t i = 0; i < data.size(); ++i) data[i] = i;
  vector<Dtype> labels = {0, 1, 2, 3, 4, 5};
  this->SetUpLayer(transform);
  this->layer_->Reset(data.data(), labels.data(), 6);
  this->Forward();
  const string state = this->layer_->SaveState();
  const vector<Dtype> expected = values();
  this->SetUpLayer(transform);
  this->layer_->Reset(data.data(), labels.data(), 6);
  this->layer_->RestoreState(state);
  EXPECT_EQ(expected, values());
  // Mirrors, too, go on where they were.
  this->layer_->RestoreState(state);
  this->layer_->AddMatVector(Images(6), {0, 1, 2, 3, 4, 5});
  const vector<Dtype> mirrored = values();
  this->SetUpLayer(transform);
  this->layer_->Reset(data.data(), labels.data(), 6);
  this->layer_->RestoreState(state);
  this->layer_->AddMatVector(Images(6), {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(mirrored, values());
  // Without its images, a position means nothing.
  this->SetUpLayer(transform);
  EXPECT_THROW(this->layer_->RestoreState(state), Error);
  EXPECT_THROW(this->layer_->RestoreState("\xff"), Error);
}

}  // namespace caffe
