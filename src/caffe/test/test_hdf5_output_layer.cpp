#include "caffe/layers/hdf5_output_layer.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "temporary_folder.hpp"
#include "util/hdf5_file.hpp"

namespace caffe {

using ::testing::HasSubstr;

template <typename TypeParam>
class HDF5OutputLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  void SetUpLayer(const string& file_name) {
    LayerParameter param;
    param.mutable_hdf5_output_param()->set_file_name(file_name);
    layer_ = std::make_unique<HDF5OutputLayer<Dtype>>(param);
    data_.Reshape({2, 3, 1, 2});
    labels_.Reshape({2});
    layer_->SetUp({&data_, &labels_}, {});
  }

  // Adds two rows; all values follow from the number.
  void Forward(int number) {
    for (int i = 0; i < data_.count(); ++i) {
      data_.mutable_cpu_data()[i] = 100 * number + i;
    }
    for (int i = 0; i < labels_.count(); ++i) {
      labels_.mutable_cpu_data()[i] = 10 * number + i;
    }
    layer_->Forward({&data_, &labels_}, {});
  }

  // Expects the file to hold the rows of that many calls of Forward.
  void ExpectFile(int calls) const {
    const Hdf5Group file = OpenHdf5(file_name_);
    Blob<Dtype> data;
    Blob<Dtype> labels;
    hdf5_load_nd_dataset(file.id(), HDF5_DATA_DATASET_NAME, 1, 4, &data, true);
    hdf5_load_nd_dataset(file.id(), HDF5_DATA_LABEL_NAME, 1, 4, &labels, true);
    // Four axes, as Caffe writes them.
    ASSERT_EQ((vector<int>{2 * calls, 3, 1, 2}), data.shape());
    ASSERT_EQ((vector<int>{2 * calls, 1, 1, 1}), labels.shape());
    for (int i = 0; i < data.count(); ++i) {
      ASSERT_EQ(100 * (i / 12) + i % 12, data.cpu_data()[i]);
    }
    for (int i = 0; i < labels.count(); ++i) {
      ASSERT_EQ(10 * (i / 2) + i % 2, labels.cpu_data()[i]);
    }
  }

  TemporaryFolder folder_;
  const string file_name_ = folder_ / "out.h5";
  Blob<Dtype> data_;
  Blob<Dtype> labels_;
  std::unique_ptr<HDF5OutputLayer<Dtype>> layer_;
};

TYPED_TEST_SUITE(HDF5OutputLayerTest, TestDtypesAndDevices);

TYPED_TEST(HDF5OutputLayerTest, WritesEveryBatch) {
  WriteWholeFile(this->file_name_, "old");
  this->SetUpLayer(this->file_name_);
  EXPECT_EQ(this->file_name_, this->layer_->file_name());
  EXPECT_FALSE(OpenHdf5(this->file_name_).Has("data"));
  for (int i = 0; i < 11; ++i) {
    this->Forward(i);
    // Rows come to the file when there are twice as many as in it.
    if (i == 0 || i == 1 || i == 3 || i == 7) this->ExpectFile(i + 1);
  }
  this->ExpectFile(8);
  this->layer_.reset();
  this->ExpectFile(11);
  EXPECT_EQ(1u, this->folder_.Names().size());
}

TYPED_TEST(HDF5OutputLayerTest, GradientsAreZero) {
  typedef typename TypeParam::Dtype Dtype;
  this->SetUpLayer(this->file_name_);
  caffe_set(this->data_.count(), Dtype(7), this->data_.mutable_cpu_diff());
  caffe_set(this->labels_.count(), Dtype(7), this->labels_.mutable_cpu_diff());
  this->layer_->Backward({}, {true, false}, {&this->data_, &this->labels_});
  EXPECT_EQ(0, this->data_.asum_diff());
  EXPECT_EQ(14, this->labels_.asum_diff());
}

TYPED_TEST(HDF5OutputLayerTest, Refuses) {
  EXPECT_THAT(ErrorOf([&] { this->SetUpLayer(""); }), HasSubstr("file_name"));
  EXPECT_THAT(ErrorOf([&] { this->SetUpLayer("/nowhere/out.h5"); }),
              HasSubstr("/nowhere/out.h5"));
  this->SetUpLayer(this->file_name_);
  this->Forward(0);
  this->labels_.Reshape({3});
  EXPECT_THAT(ErrorOf([&] { this->Forward(1); }),
              HasSubstr("2 rows of data and 3 labels"));
  this->labels_.Reshape({2});
  this->data_.Reshape({2, 3, 2, 2});
  EXPECT_THAT(ErrorOf([&] { this->Forward(1); }),
              HasSubstr("cannot add rows of shape 2 3 2 2 (24)"));
  this->layer_.reset();
  this->ExpectFile(1);
}

}  // namespace caffe
