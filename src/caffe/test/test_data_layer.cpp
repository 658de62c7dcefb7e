#include "caffe/layers/data_layer.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "data_layer_test_util.hpp"
#include "net_test_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

namespace {

using ::testing::HasSubstr;

constexpr int kRecords = 10;

Datum RawDatum(int number) {
  Datum datum;
  CVMatToDatum(NumberedImage(number, 5, 6, 3), &datum);
  datum.set_label(number);
  return datum;
}

Datum JpegDatum(int number) {
  vector<uchar> file;
  cv::imencode(".jpg", NumberedImage(number, 5, 6, 3), file);
  Datum datum;
  datum.set_data(file.data(), file.size());
  datum.set_encoded(true);
  datum.set_label(number);
  return datum;
}

vector<string> Records(int count, Datum (*make)(int)) {
  vector<string> values(count);
  for (int i = 0; i < count; ++i) values[i] = make(i).SerializeAsString();
  return values;
}

vector<string> RawRecords(int count = kRecords) {
  return Records(count, RawDatum);
}

}  // namespace

template <typename TypeParam>
class DataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  ~DataLayerTest() override {
    Caffe::set_solver_count(1);
    Caffe::set_solver_rank(0);
  }

  // Settings of a layer that reads the database called `name`.
  string Settings(const string& name, const string& data_param,
                  const string& more = "") const {
    return "name: 'cifar' type: 'Data' data_param { source: '" +
           folder_ / name + "' " + data_param + "} " + more;
  }

  void Write(const string& name, const vector<string>& values,
             const string& backend = "lmdb") const {
    WriteDatabase(backend, folder_ / name, values);
  }

  // The labels of the next batches.
  static vector<int> Labels(Feed<Dtype>* feed, int batches) {
    vector<int> labels;
    for (int i = 0; i < batches; ++i) {
      for (const Dtype label : feed->NextOf(1)) {
        labels.push_back(static_cast<int>(label));
      }
    }
    return labels;
  }

  // What the net says about a layer of these settings.
  static string NetComplaint(const string& settings) {
    return ErrorOf([&] {
      const auto net =
          MakeNet<Dtype>("layer { " + settings + " top: 'data' top: 'label' }");
      for (int i = 0; i < 5; ++i) net->Forward();
    });
  }

  TemporaryFolder folder_;
};

TYPED_TEST_SUITE(DataLayerTest, TestDtypesAndDevices);

TYPED_TEST(DataLayerTest, ReadsAllRecordsInOrderAgainAndAgain) {
  typedef typename TypeParam::Dtype Dtype;
  for (const string& backend : Backends()) {
    for (const int prefetch : {1, 2, 7}) {
      SCOPED_TRACE(Concat(backend, " ", prefetch));
      if (prefetch == 1) this->Write(backend, RawRecords(), backend);
      Feed<Dtype> feed(
          this->Settings(
              backend,
              Concat("batch_size: 4 prefetch: ", prefetch,
                     " backend: ", backend == "lmdb" ? "LMDB" : "LEVELDB")),
          2);
      EXPECT_EQ((vector<int>{4, 3, 5, 6}), feed.top(0).shape());
      EXPECT_EQ((vector<int>{4}), feed.top(1).shape());
      for (int i = 0; i < 30; i += 4) {
        feed.Next();
        for (int item = 0; item < 4; ++item) {
          const int number = (i + item) % kRecords;
          EXPECT_EQ(number, feed.top(1).cpu_data()[item]);
          const cv::Mat image = NumberedImage(number, 5, 6, 3);
          for (int c = 0; c < 3; ++c) {
            for (int h = 0; h < 5; ++h) {
              for (int w = 0; w < 6; ++w) {
                ASSERT_EQ(image.ptr(h)[w * 3 + c],
                          feed.top(0).data_at(item, c, h, w));
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(DataLayerTest, LabelsAreOptionalAndImagesTransformed) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  Feed<Dtype> feed(
      this->Settings("db", "batch_size: 2 backend: LMDB",
                     "phase: TEST transform_param { crop_size: 3 scale: 0.5 "
                     "mean_value: 4 }"),
      1);
  EXPECT_EQ((vector<int>{2, 3, 3, 3}), feed.top(0).shape());
  feed.Next();
  const cv::Mat image = NumberedImage(1, 5, 6, 3);
  // The centre starts at row 1, column 1.
  EXPECT_EQ((image.ptr(1)[1 * 3 + 2] - 4) * Dtype(0.5),
            feed.top(0).data_at(1, 2, 0, 0));
}

TYPED_TEST(DataLayerTest, EncodedImages) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", Records(4, JpegDatum));
  Feed<Dtype> feed(this->Settings("db", "batch_size: 4 backend: LMDB"), 2);
  feed.Next();
  const cv::Mat image = DecodeDatumToCVMatNative(JpegDatum(3));
  EXPECT_EQ(image.ptr(4)[5 * 3 + 1], feed.top(0).data_at(3, 1, 4, 5));
  EXPECT_EQ(3, feed.top(1).cpu_data()[3]);
}

// Batches of bytes, of floats, and of both, one after the other.
TYPED_TEST(DataLayerTest, RecordsOfBytesAndFloatsMayBeMixed) {
  typedef typename TypeParam::Dtype Dtype;
  vector<string> values = RawRecords(18);
  for (const int number : {2, 3, 5, 7, 8, 9, 11, 13, 14, 15, 16}) {
    Datum datum = RawDatum(number);
    for (const char byte : datum.data()) {
      datum.add_float_data(static_cast<uint8_t>(byte));
    }
    datum.clear_data();
    values[number] = datum.SerializeAsString();
  }
  this->Write("mixed", values);
  this->Write("bytes", RawRecords(18));
  const string more =
      "transform_param { crop_size: 3 scale: 0.3 mirror: true mean_value: 4 }";
  const string settings = "batch_size: 2 backend: LMDB prefetch: 2";
  vector<vector<vector<Dtype>>> batches;
  for (const char* const name : {"mixed", "bytes"}) {
    Caffe::set_random_seed(9);
    Feed<Dtype> feed(this->Settings(name, settings, more), 2);
    batches.push_back(feed.Next(20));
  }
  EXPECT_EQ(batches[1], batches[0]);
}

TYPED_TEST(DataLayerTest, BatchesReadAheadTakeAByteAValue) {
  typedef typename TypeParam::Dtype Dtype;
  const auto taken = [] {
    return memory::Ledger::Get()
        .live()[static_cast<size_t>(memory::Kind::kData)];
  };
  this->Write("db", RawRecords());
  const size_t before = taken();
  Feed<Dtype> feed(
      this->Settings("db", "batch_size: 4 backend: LMDB prefetch: 3"), 2);
  for (int i = 0; i < 5; ++i) feed.Next();
  EXPECT_EQ(3 * 4 * 3 * 5 * 6, taken() - before);
}

TYPED_TEST(DataLayerTest, BatchesOfOneFollowTheImages) {
  typedef typename TypeParam::Dtype Dtype;
  vector<string> values;
  for (const int width : {4, 9, 2}) {
    Datum datum;
    CVMatToDatum(NumberedImage(width, 3, width, 1), &datum);
    values.push_back(datum.SerializeAsString());
  }
  this->Write("db", values);
  const string settings =
      this->Settings("db", "batch_size: 1 backend: LMDB prefetch: 2");
  Feed<Dtype> feed(settings, 2);
  for (const int width : {4, 9, 2, 4, 9}) {
    feed.Next();
    ASSERT_EQ((vector<int>{1, 1, 3, width}), feed.top(0).shape());
    EXPECT_EQ(NumberedImage(width, 3, width, 1).ptr(2)[width - 1],
              feed.top(0).data_at(0, 0, 2, width - 1));
  }
  EXPECT_THAT(FeedComplaint<Dtype>(
                  this->Settings("db", "batch_size: 2 backend: LMDB"), 2),
              HasSubstr("record '00000001' of database"));
}

TYPED_TEST(DataLayerTest, SolversShareTheRecordsOfTraining) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  const string data = "batch_size: 2 backend: LMDB";
  Caffe::set_solver_count(3);
  Caffe::set_solver_rank(1);
  {
    Feed<Dtype> train(this->Settings("db", data, "phase: TRAIN"), 2);
    // Ten records do not divide by three: the second time round it gets others.
    EXPECT_EQ((vector<int>{1, 4, 7, 0, 3, 6, 9, 2}), this->Labels(&train, 4));
    Feed<Dtype> test(this->Settings("db", data, "phase: TEST"), 2);
    EXPECT_EQ((vector<int>{0, 1, 2, 3}), this->Labels(&test, 2));
  }
  ExpectExactResume<Dtype>(this->Settings("db", data), 2);
}

TYPED_TEST(DataLayerTest, SkipsAtRandomAtTheStart) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  std::set<int> firsts;
  for (int seed = 0; seed < 60; ++seed) {
    Caffe::set_random_seed(seed);
    Feed<Dtype> feed(
        this->Settings("db", "batch_size: 1 backend: LMDB rand_skip: 4"), 2);
    firsts.insert(this->Labels(&feed, 1)[0]);
  }
  EXPECT_EQ((std::set<int>{0, 1, 2, 3}), firsts);
}

TYPED_TEST(DataLayerTest, SameSeedSameBatches) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  const string settings =
      this->Settings("db", "batch_size: 3 backend: LMDB",
                     "transform_param { crop_size: 2 mirror: true }");
  const auto batches = [&](int seed) {
    Caffe::set_random_seed(seed);
    return Feed<Dtype>(settings, 2).Next(20);
  };
  EXPECT_EQ(batches(1), batches(1));
  EXPECT_NE(batches(1), batches(2));
}

TYPED_TEST(DataLayerTest, ResumesExactly) {
  typedef typename TypeParam::Dtype Dtype;
  for (const string& backend : Backends()) {
    this->Write(backend, RawRecords(), backend);
    const string data = Concat("batch_size: 3 rand_skip: 5 backend: ",
                               backend == "lmdb" ? "LMDB" : "LEVELDB");
    ExpectExactResume<Dtype>(this->Settings(backend, data), 2);
    ExpectExactResume<Dtype>(
        this->Settings(backend, data,
                       "transform_param { crop_size: 2 mirror: true }"),
        2);
  }
}

TYPED_TEST(DataLayerTest, BatchSizeMayChange) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  ExpectBatchSizeToChange<Dtype>(
      this->Settings("db", "batch_size: 2 backend: LMDB",
                     "transform_param { crop_size: 2 mirror: true }"),
      2);
}

TYPED_TEST(DataLayerTest, ResumesOnlyWhereItsRecordIs) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("long", RawRecords());
  this->Write("short", RawRecords(3));
  const string data = "batch_size: 4 backend: LMDB";
  Feed<Dtype> from(this->Settings("long", data), 2);
  from.Next();
  Feed<Dtype> to(this->Settings("short", data), 2);
  Feed<Dtype> same(this->Settings("short", data), 2);
  EXPECT_EQ(same.Next(), to.Next());
  EXPECT_THAT(
      ErrorOf([&] { to.layer().RestoreState(from.layer().SaveState()); }),
      HasSubstr("has no record '00000004'"));
  // It stays where it was.
  EXPECT_EQ(same.Next(2), to.Next(2));
}

TYPED_TEST(DataLayerTest, WrongBackendIsNoticed) {
  typedef typename TypeParam::Dtype Dtype;
  for (const string& backend : Backends()) {
    this->Write(backend, RawRecords(), backend);
    for (const string said : {"LMDB", "LEVELDB"}) {
      EXPECT_EQ(
          "",
          FeedComplaint<Dtype>(
              this->Settings(backend, "batch_size: 1 backend: " + said), 2));
    }
  }
}

TYPED_TEST(DataLayerTest, RefusesSettings) {
  typedef typename TypeParam::Dtype Dtype;
  this->Write("db", RawRecords());
  EXPECT_THAT(
      FeedComplaint<Dtype>("type: 'Data' data_param { batch_size: 1 }", 2),
      HasSubstr("source"));
  EXPECT_THAT(FeedComplaint<Dtype>(this->Settings("db", "backend: LMDB"), 2),
              HasSubstr("batch_size"));
  EXPECT_THAT(
      FeedComplaint<Dtype>(
          this->Settings("db", "batch_size: 1 backend: LMDB prefetch: 0"), 2),
      HasSubstr("prefetch"));
  EXPECT_THAT(FeedComplaint<Dtype>(
                  this->Settings("none", "batch_size: 1 backend: LMDB"), 2),
              HasSubstr(this->folder_ / "none"));
  EXPECT_THAT(
      FeedComplaint<Dtype>(this->Settings("db", "batch_size: 1 backend: LMDB",
                                          "transform_param { crop_size: 99 }"),
                           2),
      HasSubstr("crop_size 99"));
}

TYPED_TEST(DataLayerTest, EmptyDatabaseIsAnError) {
  this->Write("db", {});
  EXPECT_EQ(
      "layer 'cifar' (Data): database '" + this->folder_ / "db" + "' is empty",
      this->NetComplaint(this->Settings("db", "batch_size: 2 backend: LMDB")));
}

TYPED_TEST(DataLayerTest, TruncatedDatabaseIsAnError) {
  this->Write("db", RawRecords(500));
  const string file = this->folder_ / "db/data.mdb";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const string complaint =
      this->NetComplaint(this->Settings("db", "batch_size: 2 backend: LMDB"));
  EXPECT_THAT(complaint, HasSubstr("layer 'cifar' (Data): "));
  EXPECT_THAT(complaint, HasSubstr(this->folder_ / "db"));
}

TYPED_TEST(DataLayerTest, DamagedRecordsNameThemselves) {
  vector<string> values = Records(8, JpegDatum);
  Datum damaged = JpegDatum(5);
  damaged.mutable_data()->resize(damaged.data().size() / 2);
  values[5] = damaged.SerializeAsString();
  this->Write("jpeg", values);
  const string complaint =
      this->NetComplaint(this->Settings("jpeg", "batch_size: 2 backend: LMDB"));
  EXPECT_THAT(complaint,
              HasSubstr("layer 'cifar' (Data): record '00000005' of database "
                        "'" +
                        this->folder_ / "jpeg'"));
  values = RawRecords(4);
  values[2] = "\xff\xff no datum";
  this->Write("raw", values);
  EXPECT_THAT(
      this->NetComplaint(this->Settings("raw", "batch_size: 1 backend: LMDB")),
      HasSubstr("record '00000002' of database"));
}

TYPED_TEST(DataLayerTest, FailsWithTheBatchThatFailsAndEverAfter) {
  typedef typename TypeParam::Dtype Dtype;
  vector<string> values = RawRecords(6);
  values[4] = "no datum";
  this->Write("db", values);
  Feed<Dtype> feed(
      this->Settings("db", "batch_size: 2 backend: LMDB prefetch: 3"), 2);
  EXPECT_EQ((vector<int>{0, 1}), this->Labels(&feed, 1));
  const string state = feed.layer().SaveState();
  EXPECT_EQ((vector<int>{2, 3}), this->Labels(&feed, 1));
  for (int i = 0; i < 3; ++i) EXPECT_THROW(feed.Next(), Error);
  feed.layer().RestoreState(state);
  EXPECT_EQ((vector<int>{2, 3}), this->Labels(&feed, 1));
  EXPECT_THROW(feed.Next(), Error);
}

}  // namespace caffe
