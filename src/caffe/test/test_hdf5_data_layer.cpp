#include "caffe/layers/hdf5_data_layer.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "caffe/test/test_error_util.hpp"
#include "data_layer_test_util.hpp"
#include "temporary_folder.hpp"
#include "util/hdf5_file.hpp"

namespace caffe {

using ::testing::HasSubstr;

template <typename TypeParam>
class HDF5DataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  // Rows numbered from first_row on: "data" of two values, row and -row, and
  // "label", ten times the row.
  void WriteFile(const string& name, int first_row, int rows,
                 int label_rows = -1, int columns = 2) const {
    if (label_rows < 0) label_rows = rows;
    Blob<Dtype> data(vector<int>{rows, columns});
    Blob<Dtype> labels(vector<int>{label_rows});
    for (int i = 0; i < data.count(); ++i) {
      const int row = first_row + i / columns;
      data.mutable_cpu_data()[i] = i % columns == 0 ? row : -row;
    }
    for (int i = 0; i < label_rows; ++i) {
      labels.mutable_cpu_data()[i] = 10 * (first_row + i);
    }
    Hdf5Output file(folder_ / name);
    hdf5_save_nd_dataset(file.root().id(), "data", data);
    hdf5_save_nd_dataset(file.root().id(), "label", labels);
    file.Commit();
  }

  // Files of 4, 3 and 5 rows.
  void WriteThreeFiles() const {
    WriteFile("a.h5", 0, 4);
    WriteFile("b.h5", 4, 3);
    WriteFile("c.h5", 7, 5);
    WriteList({"a.h5", "b.h5", "c.h5"});
  }

  void WriteList(const vector<string>& names) const {
    string list;
    for (const string& name : names) list += folder_ / name + "\n";
    WriteWholeFile(folder_ / "list.txt", list + "\n");
  }

  string Settings(const string& hdf5_data_param,
                  const string& more = "") const {
    return "type: 'HDF5Data' top: 'data' top: 'label' hdf5_data_param { "
           "source: '" +
           folder_ / "list.txt" + "' " + hdf5_data_param + " } " + more;
  }

  string Complaint(const string& settings) const {
    return FeedComplaint<Dtype>(settings, 2, 8);
  }

  // The numbers of the next rows, which must be whole.
  static vector<int> Rows(Feed<Dtype>* feed, int batches) {
    vector<int> rows;
    for (int i = 0; i < batches; ++i) {
      feed->Next();
      for (int n = 0; n < feed->top(0).shape(0); ++n) {
        const Dtype row = feed->top(0).data_at({n, 0});
        EXPECT_EQ(-row, feed->top(0).data_at({n, 1}));
        EXPECT_EQ(10 * row, feed->top(1).cpu_data()[n]);
        rows.push_back(static_cast<int>(row));
      }
    }
    return rows;
  }

  TemporaryFolder folder_;
};

TYPED_TEST_SUITE(HDF5DataLayerTest, TestDtypesAndDevices);

TYPED_TEST(HDF5DataLayerTest, ReadsAllRowsOfAllFiles) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  for (const int batch_size : {1, 3, 5, 24}) {
    Feed<Dtype> feed(this->Settings(Concat("batch_size: ", batch_size)), 2);
    EXPECT_EQ((vector<int>{batch_size, 2}), feed.top(0).shape());
    EXPECT_EQ((vector<int>{batch_size}), feed.top(1).shape());
    const vector<int> rows = this->Rows(&feed, 10);
    for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(i % 12, rows[i]);
  }
}

TYPED_TEST(HDF5DataLayerTest, AnyNumberOfTopsAndAxes) {
  typedef typename TypeParam::Dtype Dtype;
  Blob<Dtype> deep(vector<int>{2, 1, 3, 1, 2});
  std::iota(deep.mutable_cpu_data(), deep.mutable_cpu_data() + 12, 0);
  {
    Hdf5Output file(this->folder_ / "a.h5");
    hdf5_save_nd_dataset(file.root().id(), "deep", deep);
    file.Commit();
  }
  this->WriteList({"a.h5"});
  Feed<Dtype> feed(
      "type: 'HDF5Data' top: 'deep' hdf5_data_param { "
      "batch_size: 3 source: '" +
          this->folder_ / "list.txt" + "' }",
      1);
  EXPECT_EQ((vector<int>{3, 1, 3, 1, 2}), feed.top(0).shape());
  feed.Next();
  for (int i = 0; i < 18; ++i) EXPECT_EQ(i % 12, feed.top(0).cpu_data()[i]);
}

TYPED_TEST(HDF5DataLayerTest, ShufflesFilesAndRows) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  Caffe::set_random_seed(1701);
  Feed<Dtype> feed(this->Settings("batch_size: 12 shuffle: true"), 2);
  std::set<vector<int>> orders;
  std::set<vector<int>> file_orders;
  for (int pass = 0; pass < 30; ++pass) {
    const vector<int> rows = this->Rows(&feed, 1);
    EXPECT_EQ(12u, std::set<int>(rows.begin(), rows.end()).size());
    orders.insert(rows);
    vector<int> files;
    for (const int row : rows) {
      const int file = row < 4 ? 0 : row < 7 ? 1 : 2;
      if (files.empty() || files.back() != file) files.push_back(file);
    }
    // Every file is finished before the next one begins.
    EXPECT_EQ(3u, files.size());
    file_orders.insert(files);
  }
  EXPECT_GT(orders.size(), 25u);
  EXPECT_EQ(6u, file_orders.size());
}

TYPED_TEST(HDF5DataLayerTest, SolversShareTheRowsOfTraining) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  Caffe::set_solver_count(2);
  Caffe::set_solver_rank(1);
  Feed<Dtype> train(this->Settings("batch_size: 4", "phase: TRAIN"), 2);
  EXPECT_EQ((vector<int>{1, 3, 5, 7, 9, 11, 1, 3}), this->Rows(&train, 2));
  Feed<Dtype> test(this->Settings("batch_size: 4", "phase: TEST"), 2);
  EXPECT_EQ((vector<int>{0, 1, 2, 3}), this->Rows(&test, 1));
  Caffe::set_solver_count(1);
  Caffe::set_solver_rank(0);
}

TYPED_TEST(HDF5DataLayerTest, BatchSizeMayChange) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  ExpectBatchSizeToChange<Dtype>(this->Settings("batch_size: 2 shuffle: true"),
                                 2);
}

TYPED_TEST(HDF5DataLayerTest, ResumesExactly) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  ExpectExactResume<Dtype>(this->Settings("batch_size: 5"), 2);
  ExpectExactResume<Dtype>(this->Settings("batch_size: 5 shuffle: true"), 2);
  this->WriteList({"c.h5"});
  ExpectExactResume<Dtype>(this->Settings("batch_size: 3 shuffle: true"), 2);
}

TYPED_TEST(HDF5DataLayerTest, StaysWhereItWasWhenThereIsNoSuchRow) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  Feed<Dtype> from(this->Settings("batch_size: 11"), 2);
  from.Next();
  // The last file has only two rows now.
  this->WriteFile("c.h5", 7, 2);
  Feed<Dtype> to(this->Settings("batch_size: 5"), 2);
  to.Next();
  EXPECT_THAT(
      ErrorOf([&] { to.layer().RestoreState(from.layer().SaveState()); }),
      HasSubstr("item 4 of a list that has only 2"));
  EXPECT_EQ((vector<int>{5, 6, 7, 8, 0}), this->Rows(&to, 1));
}

TYPED_TEST(HDF5DataLayerTest, RefusesSettings) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  EXPECT_THAT(this->Complaint(this->Settings("")), HasSubstr("batch_size"));
  EXPECT_THAT(this->Complaint(this->Settings("batch_size: 1",
                                             "transform_param { scale: 2 }")),
              HasSubstr("transform_param"));
  EXPECT_THAT(FeedComplaint<Dtype>(this->Settings("batch_size: 1"), 1),
              HasSubstr("name for every top"));
  this->WriteList({});
  EXPECT_THAT(this->Complaint(this->Settings("batch_size: 1")),
              HasSubstr("list.txt lists no HDF5 files"));
}

TYPED_TEST(HDF5DataLayerTest, RefusesFiles) {
  typedef typename TypeParam::Dtype Dtype;
  this->WriteThreeFiles();
  const auto complaint = [this](const vector<string>& names) {
    this->WriteList(names);
    return this->Complaint(this->Settings("batch_size: 1"));
  };
  EXPECT_THAT(complaint({"none.h5"}), HasSubstr(this->folder_ / "none.h5"));
  WriteWholeFile(this->folder_ / "text.h5", "no HDF5");
  EXPECT_THAT(complaint({"text.h5"}), HasSubstr("text.h5"));
  // Found out when it is the second one's turn.
  EXPECT_THAT(complaint({"a.h5", "text.h5"}), HasSubstr("text.h5"));
  this->WriteFile("uneven.h5", 0, 3, 2);
  EXPECT_THAT(complaint({"uneven.h5"}),
              HasSubstr("uneven.h5: 'label' has 2 rows, and 'data' has 3"));
  this->WriteFile("wide.h5", 0, 3, 3, 4);
  EXPECT_THAT(complaint({"a.h5", "wide.h5"}),
              HasSubstr("wide.h5: 'data' of shape 3 4 (12)"));
  this->WriteFile("empty.h5", 0, 0);
  EXPECT_THAT(complaint({"empty.h5"}), HasSubstr("empty.h5"));
  this->WriteList({"a.h5"});
  EXPECT_THAT(FeedComplaint<Dtype>("type: 'HDF5Data' top: 'other' "
                                   "hdf5_data_param { batch_size: 1 source: '" +
                                       this->folder_ / "list.txt" + "' }",
                                   1),
              HasSubstr("other"));
}

}  // namespace caffe
