#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/hdf5.hpp"
#include "caffe/util/io.hpp"
#include "net_test_util.hpp"
#include "util/hdf5_file.hpp"

namespace caffe {

using ::testing::EndsWith;
using ::testing::StartsWith;

// Weights in HDF5 files.
template <typename TypeParam>
class NetHdf5Test : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  NetHdf5Test() {
    MakeTempDir(&folder_);
    file_ = folder_ + "/net.caffemodel.h5";
  }
  ~NetHdf5Test() override { std::filesystem::remove_all(folder_); }

  // Two layers, for samples of `size` values.
  static std::unique_ptr<Net<Dtype>> Two(const string& first,
                                         const string& second,
                                         const string& settings = "",
                                         int size = 2) {
    return MakeNet<Dtype>(Concat(
        "layer { name: 'in' type: 'Input' top: 'x' ",
        "input_param { shape { dim: 1 dim: ", size, " } } } ",
        "layer { type: 'Affine' bottom: 'x' top: 'y' name: '", first, "' ",
        settings, "} layer { type: 'Affine' bottom: 'y' top: 'z' name: '",
        second, "' ", settings, "}"));
  }

  // Gives every parameter values of its own: 0 1, 10 11, 20 21, ...
  static void Number(Net<Dtype>* net) {
    for (size_t i = 0; i < net->params().size(); ++i) {
      Set<Dtype>({Dtype(10 * i), Dtype(10 * i + 1)}, net->params()[i].get());
    }
  }

  static void ExpectNumbered(const Net<Dtype>& net) {
    for (size_t i = 0; i < net.params().size(); ++i) {
      EXPECT_EQ((vector<Dtype>{Dtype(10 * i), Dtype(10 * i + 1)}),
                DataOf(*net.params()[i]));
    }
  }

  string folder_;
  string file_;
};

TYPED_TEST_SUITE(NetHdf5Test, TestDtypesAndDevices);

TYPED_TEST(NetHdf5Test, WeightsAreTheSameAfterwards) {
  const auto saved = this->Two("a", "b");
  this->Number(saved.get());
  saved->ToHDF5(this->file_);
  const auto read = this->Two("a", "b");
  read->CopyTrainedLayersFrom(this->file_);
  this->ExpectNumbered(*read);
}

TYPED_TEST(NetHdf5Test, DataSetsAreWhereCaffeHasThem) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = this->Two("a", "b");
  this->Number(net.get());
  net->params()[2]->mutable_cpu_diff()[1] = 77;
  net->ToHDF5(this->file_, /*write_diff=*/true);
  const Hdf5Group root = OpenHdf5(this->file_);
  Blob<Dtype> blob;
  hdf5_load_nd_dataset(root.id(), "data/b/1", 1, 1, &blob, /*reshape=*/true);
  EXPECT_EQ((vector<Dtype>{30, 31}), DataOf(blob));
  hdf5_load_nd_dataset(root.id(), "diff/b/0", 1, 1, &blob, /*reshape=*/true);
  EXPECT_EQ((vector<Dtype>{0, 77}), DataOf(blob));
  net->ToHDF5(this->file_);
  EXPECT_FALSE(OpenHdf5(this->file_).Has("diff"));
}

TYPED_TEST(NetHdf5Test, FloatAndDoubleConvert) {
  MakeNet<float>(R"(
    layer { name: 'in' type: 'Input' top: 'x'
            input_param { shape { dim: 1 dim: 2 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            power_param { scale: 0.5 } })")
      ->ToHDF5(this->file_);
  const auto net = this->Two("a", "b");
  net->CopyTrainedLayersFromHDF5(this->file_);
  EXPECT_EQ(0.5, net->params()[0]->cpu_data()[1]);
}

TYPED_TEST(NetHdf5Test, CopiesIntoLayersOfTheSameName) {
  typedef typename TypeParam::Dtype Dtype;
  const auto saved = this->Two("a", "b");
  this->Number(saved.get());
  saved->ToHDF5(this->file_);
  const auto read = this->Two("b", "c");
  read->CopyTrainedLayersFrom(this->file_);
  EXPECT_EQ((vector<Dtype>{20, 21}), DataOf(*read->params()[0]));
  EXPECT_EQ((vector<Dtype>{1, 1}), DataOf(*read->params()[2]));
}

TYPED_TEST(NetHdf5Test, LayerNamesMayHaveSlashes) {
  const auto saved = this->Two("inception/1x1", "inception");
  this->Number(saved.get());
  saved->ToHDF5(this->file_);
  const auto read = this->Two("inception/1x1", "inception");
  read->CopyTrainedLayersFrom(this->file_);
  this->ExpectNumbered(*read);
}

TYPED_TEST(NetHdf5Test, SharedWeightsAreStoredOnce) {
  const string shared = "param { name: 'w' }";
  const auto saved = this->Two("a", "b", shared);
  this->Number(saved.get());
  saved->ToHDF5(this->file_);
  const Hdf5Group data = OpenHdf5(this->file_).OpenGroup("data");
  EXPECT_TRUE(data.Has("a/0"));
  EXPECT_FALSE(data.Has("b/0"));
  EXPECT_TRUE(data.Has("b/1"));
  const auto read = this->Two("a", "b", shared);
  read->CopyTrainedLayersFrom(this->file_);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(DataOf(*saved->params()[i]), DataOf(*read->params()[i]));
  }
  // To a net that does not share, something is missing.
  EXPECT_EQ("layer 'b' (Affine): " + this->file_ +
                ": '/data/b/0' is not there or not a data set",
            ErrorOf([&] {
              this->Two("a", "b")->CopyTrainedLayersFrom(this->file_);
            }));
}

TYPED_TEST(NetHdf5Test, RefusesWeightsOfAnotherNet) {
  this->Two("a", "b", "", 3)->ToHDF5(this->file_);
  EXPECT_EQ("layer 'a' (Affine): " + this->file_ +
                ": '/data/a/0' has shape 3 (3) instead of 2 (2)",
            ErrorOf([&] {
              this->Two("a", "b")->CopyTrainedLayersFrom(this->file_);
            }));
  EXPECT_EQ(this->file_ + ": has no weights for any layer of this net",
            ErrorOf([&] {
              this->Two("c", "d")->CopyTrainedLayersFrom(this->file_);
            }));
}

TYPED_TEST(NetHdf5Test, RefusesMoreWeightsThanTheLayerHas) {
  typedef typename TypeParam::Dtype Dtype;
  Hdf5Output file(this->file_);
  const Hdf5Group layer = file.root().CreateGroup("data").CreateGroup("a");
  for (const char* const name : {"0", "1", "2"}) {
    hdf5_save_nd_dataset(layer.id(), name, Blob<Dtype>(vector<int>{2}));
  }
  file.Commit();
  EXPECT_EQ("layer 'a' (Affine): has 2 parameter blob(s) here but more in " +
                this->file_,
            ErrorOf([&] {
              this->Two("a", "b")->CopyTrainedLayersFrom(this->file_);
            }));
}

TYPED_TEST(NetHdf5Test, RefusesFilesThatAreNoWeights) {
  const auto net = this->Two("a", "b");
  const auto read = [&] { net->CopyTrainedLayersFrom(this->file_); };
  EXPECT_EQ("cannot read " + this->file_ + ": No such file or directory",
            ErrorOf(read));
  WriteProtoToTextFile(ParseNet("name: 'x'"), this->file_);
  EXPECT_THAT(ErrorOf(read),
              StartsWith("cannot read " + this->file_ + " as an HDF5 file: "));
  Hdf5Output(this->file_).Commit();
  EXPECT_EQ(this->file_ + ": '/data' is not there or not a group",
            ErrorOf(read));
  EXPECT_THAT(ErrorOf([&] { net->ToHDF5(this->folder_ + "/none/net.h5"); }),
              EndsWith("No such file or directory"));
}

}  // namespace caffe
