#include "caffe/util/hdf5.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "temporary_folder.hpp"
#include "util/hdf5_file.hpp"

namespace caffe {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Dtype>
class HDF5Test : public CPUDeviceTest<Dtype> {
 protected:
  // Data 0, 1, 2, ...; diff the same negative.
  static void Fill(Blob<Dtype>* blob) {
    for (int i = 0; i < blob->count(); ++i) {
      blob->mutable_cpu_data()[i] = i;
      blob->mutable_cpu_diff()[i] = -i;
    }
  }

  // A file with blobs, numbers and texts in groups.
  void WriteFile() const {
    Hdf5Output file(name_);
    const Hdf5Group root = file.root();
    const Hdf5Group group = root.CreateGroup("data").CreateGroup("conv1");
    Blob<Dtype> blob(vector<int>{2, 3});
    Fill(&blob);
    hdf5_save_nd_dataset(group.id(), "0", blob);
    hdf5_save_nd_dataset(group.id(), "diff", blob, true);
    hdf5_save_int(root.id(), "iter", -12345);
    hdf5_save_string(root.id(), "learned_net", "models/net.caffemodel.h5");
    hdf5_save_string(root.id(), "nothing", "");
    file.Commit();
  }

  const TemporaryFolder folder_;
  const string name_ = folder_ / "file.h5";
};

TYPED_TEST_SUITE(HDF5Test, TestDtypes);

TYPED_TEST(HDF5Test, ReadsWhatItWrote) {
  this->WriteFile();
  EXPECT_THAT(this->folder_.Names(), ElementsAre("file.h5"));
  EXPECT_LT(std::filesystem::file_size(this->name_), 20000);
  const Hdf5Group root = OpenHdf5(this->name_);
  EXPECT_EQ(-12345, hdf5_load_int(root.id(), "iter"));
  EXPECT_EQ("models/net.caffemodel.h5",
            hdf5_load_string(root.id(), "learned_net"));
  EXPECT_EQ("", hdf5_load_string(root.id(), "nothing"));
  ASSERT_TRUE(root.Has("data"));
  EXPECT_FALSE(root.Has("diff"));
  Blob<TypeParam> blob;
  hdf5_load_nd_dataset(root.id(), "data/conv1/0", 2, 2, &blob, true);
  EXPECT_THAT(blob.shape(), ElementsAre(2, 3));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(i, blob.cpu_data()[i]);
  const Hdf5Group group = root.OpenGroup("data").OpenGroup("conv1");
  hdf5_load_nd_dataset(group.id(), "diff", 1, 4, &blob);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(-i, blob.cpu_data()[i]);
}

TYPED_TEST(HDF5Test, ListsLinksByName) {
  this->WriteFile();
  const Hdf5Group root = OpenHdf5(this->name_);
  vector<string> names(hdf5_get_num_links(root.id()));
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = hdf5_get_name_by_idx(root.id(), static_cast<int>(i));
  }
  EXPECT_THAT(names, ElementsAre("data", "iter", "learned_net", "nothing"));
  EXPECT_THAT(ErrorOf([&] { hdf5_get_name_by_idx(root.id(), 4); }),
              HasSubstr(this->name_));
}

TYPED_TEST(HDF5Test, KeepsScalarsAndBlobsWithoutValues) {
  for (const vector<int>& shape : {vector<int>{}, vector<int>{0, 3}}) {
    Blob<TypeParam> blob(shape);
    this->Fill(&blob);
    Hdf5Output file(this->name_);
    hdf5_save_nd_dataset(file.root().id(), "blob", blob);
    file.Commit();
    Blob<TypeParam> read;
    hdf5_load_nd_dataset(OpenHdf5(this->name_).id(), "blob", 0, 4, &read, true);
    EXPECT_EQ(shape, read.shape());
  }
}

TYPED_TEST(HDF5Test, ConvertsIntegersAndOtherFloats) {
  Blob<float> singles(vector<int>{2});
  singles.mutable_cpu_data()[0] = 0.5F;
  singles.mutable_cpu_data()[1] = -3;
  Hdf5Output file(this->name_);
  hdf5_save_nd_dataset(file.root().id(), "singles", singles);
  hdf5_save_int(file.root().id(), "integer", 7);
  file.Commit();
  const Hdf5Group root = OpenHdf5(this->name_);
  Blob<TypeParam> blob;
  hdf5_load_nd_dataset(root.id(), "singles", 1, 1, &blob, true);
  EXPECT_EQ(0.5, blob.cpu_data()[0]);
  EXPECT_EQ(-3, blob.cpu_data()[1]);
  hdf5_load_nd_dataset(root.id(), "integer", 1, 1, &blob, true);
  EXPECT_EQ(7, blob.cpu_data()[0]);
}

TYPED_TEST(HDF5Test, SameContentsMakeTheSameFile) {
  this->WriteFile();
  const string first = ReadWholeFile(this->name_);
  this->WriteFile();
  EXPECT_TRUE(first == ReadWholeFile(this->name_));
}

TYPED_TEST(HDF5Test, ErrorsNameFileAndDataSet) {
  this->WriteFile();
  const Hdf5Group root = OpenHdf5(this->name_);
  Blob<TypeParam> blob(vector<int>{3, 2});
  const auto load = [&](const char* set, int least, int most) {
    return ErrorOf(
        [&] { hdf5_load_nd_dataset(root.id(), set, least, most, &blob); });
  };
  EXPECT_EQ(this->name_ + ": '/no' is not there or not a data set",
            load("no", 1, 4));
  EXPECT_EQ(this->name_ + ": '/data' is not there or not a data set",
            load("data", 1, 4));
  EXPECT_EQ(this->name_ + ": '/data/conv1/0' has 2 axes instead of 3 to 4",
            load("data/conv1/0", 3, 4));
  EXPECT_EQ(this->name_ +
                ": '/data/conv1/0' has shape 2 3 (6) instead of "
                "3 2 (6)",
            load("data/conv1/0", 1, 4));
  EXPECT_EQ(this->name_ + ": '/learned_net' does not hold numbers",
            load("learned_net", 0, 4));
  const Hdf5Group group = root.OpenGroup("data");
  EXPECT_EQ(this->name_ + ": '/data/x' is not there or not a data set",
            ErrorOf([&] { hdf5_load_int(group.id(), "x"); }));
  EXPECT_EQ(this->name_ + ": '/data/conv1/0' does not hold one integer",
            ErrorOf([&] { hdf5_load_int(group.id(), "conv1/0"); }));
  EXPECT_EQ(this->name_ + ": '/iter' does not hold a text of fixed size",
            ErrorOf([&] { hdf5_load_string(root.id(), "iter"); }));
  EXPECT_EQ(this->name_ + ": '/iter' is not there or not a group",
            ErrorOf([&] { root.OpenGroup("iter"); }));
}

TYPED_TEST(HDF5Test, MissingAndForeignFilesAreErrors) {
  EXPECT_EQ("cannot read no.h5: No such file or directory",
            ErrorOf([] { OpenHdf5("no.h5"); }));
  WriteWholeFile(this->name_, "not HDF5");
  EXPECT_THAT(ErrorOf([&] { OpenHdf5(this->name_); }),
              HasSubstr("cannot read " + this->name_ + " as an HDF5 file: "));
  this->WriteFile();
  const string whole = ReadWholeFile(this->name_);
  WriteWholeFile(this->name_, whole.substr(0, whole.size() / 2));
  EXPECT_THAT(ErrorOf([&] { OpenHdf5(this->name_); }), HasSubstr(this->name_));
}

TYPED_TEST(HDF5Test, ReplacesTheFileOnlyAtCommit) {
  {
    Hdf5Output file(this->name_);
    hdf5_save_int(file.root().id(), "iter", 1);
  }
  EXPECT_THAT(this->folder_.Names(), IsEmpty());
  EXPECT_THAT(
      ErrorOf([&] { Hdf5Output(this->folder_ / "missing/x.h5").Commit(); }),
      AllOf(HasSubstr("missing/x.h5"), HasSubstr("No such file")));
}

// A limit on the size of files stands in for a full disk.
[[noreturn]] void ExitWithErrorOfWriting(const string& name) {
  const rlimit limit = {1000, 1000};
  setrlimit(RLIMIT_FSIZE, &limit);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    Hdf5Output file(name);
    hdf5_save_nd_dataset(file.root().id(), "x", Blob<float>({100, 100}));
    file.Commit();
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    std::exit(1);
  }
  std::exit(0);
}

TYPED_TEST(HDF5Test, FullDiskLeavesTheOldFileWhole) {
  this->WriteFile();
  const string old = ReadWholeFile(this->name_);
  EXPECT_EXIT(ExitWithErrorOfWriting(this->name_), testing::ExitedWithCode(1),
              "cannot write .*file.h5: File too large");
  EXPECT_EQ(old, ReadWholeFile(this->name_));
  EXPECT_THAT(this->folder_.Names(), ElementsAre("file.h5"));
}

}  // namespace caffe
