#include <filesystem>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/db.hpp"
#include "caffe/util/rng.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// Exact resumes of training on data from databases and image files, with
// everything that is random: crops, mirroring, shuffling, dropout.

namespace caffe {

namespace {

// Not a multiple of the batch, so that epochs end within one.
constexpr int kImages = 23;
constexpr int kExtent = 10;

// FOLDER is where the data are.
constexpr const char* kDatabase = R"(
  layer { name: 'data' type: 'Data' top: 'data' top: 'label'
          include { phase: TRAIN }
          transform_param { crop_size: 8 mirror: true scale: 0.01 }
          data_param { source: 'FOLDER/lmdb' backend: LMDB batch_size: 4
                       rand_skip: 7 } }
  layer { name: 'data' type: 'Data' top: 'data' top: 'label'
          include { phase: TEST }
          transform_param { crop_size: 8 scale: 0.01 }
          data_param { source: 'FOLDER/lmdb' backend: LMDB batch_size: 3 } })";
constexpr const char* kImageFiles = R"(
  layer { name: 'data' type: 'ImageData' top: 'data' top: 'label'
          transform_param { crop_size: 8 mirror: true scale: 0.01 }
          image_data_param { source: 'FOLDER/list.txt' root_folder: 'FOLDER/'
                             batch_size: 4 shuffle: true } })";

constexpr const char* kLearner = R"(
  layer { name: 'hidden' type: 'InnerProduct' bottom: 'data' top: 'hidden'
          inner_product_param { num_output: 12
                                weight_filler { type: 'xavier' } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'hidden' top: 'hidden' }
  layer { name: 'drop' type: 'Dropout' bottom: 'hidden' top: 'hidden' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'hidden' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' })";

constexpr const char* kSolver = R"(
  base_lr: 0.02 momentum: 0.9 weight_decay: 0.001 lr_policy: 'inv' gamma: 0.01
  power: 0.75 random_seed: 11 test_iter: 2 test_interval: 5 iter_size: 2 )";

string InFolder(string text, const string& folder) {
  for (size_t at; (at = text.find("FOLDER")) != string::npos;) {
    text.replace(at, 6, folder);
  }
  return text;
}

cv::Mat RandomImage() {
  cv::Mat image(kExtent, kExtent, CV_8UC3);
  for (int i = 0; i < 3 * kExtent * kExtent; ++i) {
    image.data[i] = static_cast<unsigned char>(caffe_rng_rand());
  }
  return image;
}

}  // namespace

class SolverResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Caffe::set_random_seed(1701);
    const std::unique_ptr<db::DB> database(db::GetDB("lmdb"));
    database->Open(folder_ / "lmdb", db::NEW);
    const std::unique_ptr<db::Transaction> puts(database->NewTransaction());
    string list;
    for (int i = 0; i < kImages; ++i) {
      const cv::Mat image = RandomImage();
      Datum datum;
      CVMatToDatum(image, &datum);
      datum.set_label(i % 5);
      puts->Put(Concat("key", 100 + i), datum.SerializeAsString());
      const string name = Concat("image", i, ".png");
      cv::imwrite(folder_ / name, image);
      list += Concat(name, " ", i % 5, "\n");
    }
    puts->Commit();
    WriteWholeFile(folder_ / "list.txt", list);
  }

  std::unique_ptr<Solver<float>> Make(const string& data,
                                      const string& settings) const {
    SolverParameter param = ParseSolver(kSolver + settings);
    *param.mutable_net_param() =
        ParseNet(InFolder(data, folder_.path()) + kLearner);
    param.set_snapshot_prefix(folder_ / "s");
    return MakeSolver<float>(param);
  }

  // A run of 20 iterations against one that was stopped twice.
  void Compare(const string& data, const string& settings) const {
    const auto whole = Make(data, settings);
    const auto start = WeightsOf(*whole);
    whole->Step(20);
    EXPECT_NE(start, WeightsOf(*whole));
    for (const int stop : {1, 5, 12}) {
      Make(data, settings)->Step(0);  // Leaves the generator anywhere.
      auto first = Make(data, settings);
      first->Step(stop);
      first->Snapshot();
      first.reset();
      auto second = Make(data, settings);
      ASSERT_TRUE(second->RestoreNewest());
      ASSERT_EQ(stop, second->iter());
      second->Step(3);
      second->Snapshot();
      second.reset();
      const auto third = Make(data, settings);
      ASSERT_TRUE(third->RestoreNewest());
      ASSERT_EQ(stop + 3, third->iter());
      third->Step(20 - third->iter());
      EXPECT_EQ(WeightsOf(*whole), WeightsOf(*third)) << "stopped at " << stop;
      RemoveSnapshots();
    }
  }

  void RemoveSnapshots() const {
    for (const string& name : folder_.Names()) {
      if (name.starts_with("s_iter_")) std::filesystem::remove(folder_ / name);
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(SolverResumeTest, FromADatabase) { Compare(kDatabase, ""); }

TEST_F(SolverResumeTest, FromShuffledImageFiles) { Compare(kImageFiles, ""); }

#ifdef USE_HDF5
TEST_F(SolverResumeTest, WithSnapshotsInHdf5) {
  Compare(kDatabase, "snapshot_format: HDF5");
  Compare(kImageFiles, "snapshot_format: HDF5");
}
#endif

// Whoever changes the data can still go on with the weights.
TEST_F(SolverResumeTest, GoesOnWithOtherData) {
  const auto first = Make(kDatabase, "");
  first->Step(5);
  first->Snapshot();
  const auto second = Make(kImageFiles, "");
  ASSERT_TRUE(second->RestoreNewest());
  EXPECT_EQ(WeightsOf(*first), WeightsOf(*second));
  second->Step(5);
}

}  // namespace caffe
