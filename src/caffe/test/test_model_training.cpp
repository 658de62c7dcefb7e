#include <cmath>
#include <regex>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "solver_test_util.hpp"

// The nets in models/ and examples/ test and train as their solvers say, with
// and without compression, on a few small images of random numbers.

namespace caffe {

namespace {

const string kProject = string(PROJECT_DIR) + "/";

struct Training {
  // Without "solver.prototxt" at the end.
  const char* solver;
  // Of a batch: as small as the net allows.
  vector<int> images;
};

// For the test's report.
void PrintTo(const Training& training, std::ostream* out) {
  *out << training.solver;
}

const Training kTrainings[] = {
    {"models/bvlc_alexnet/", {2, 3, 67, 67}},
    {"models/bvlc_reference_caffenet/", {2, 3, 67, 67}},
    {"models/vgg16/", {2, 3, 32, 32}},
    {"models/vgg19/", {2, 3, 32, 32}},
    {"models/bvlc_googlenet/", {1, 3, 224, 224}},
    {"models/squeezenet_v1.1/", {2, 3, 67, 67}},
    {"models/mobilenet/", {2, 3, 64, 64}},
    {"models/resnet18/", {1, 3, 224, 224}},
    {"models/resnet50/", {1, 3, 224, 224}},
    {"examples/cifar10/cifar10_resnet56_", {4, 3, 32, 32}},
    {"examples/mnist/mnist_autoencoder_", {10, 1, 28, 28}},
    {"examples/segmentation/shapes_fcn_", {2, 3, 64, 64}},
};

// Images of numbers in [0, 1), and a label for each, or for each of its points.
void MakeDummy(const vector<int>& images, LayerParameter* data) {
  data->set_type("DummyData");
  data->clear_data_param();
  data->clear_transform_param();
  DummyDataParameter* const dummy = data->mutable_dummy_data_param();
  for (int i = 0; i < data->top_size(); ++i) {
    const bool is_label = data->top(i) == "label";
    vector<int> extents = images;
    if (i > 0) extents.resize(1);
    if (is_label && i == 0) extents[1] = 1;
    BlobShape* const shape = dummy->add_shape();
    for (const int extent : extents) shape->add_dim(extent);
    FillerParameter* const filler = dummy->add_data_filler();
    filler->set_type(is_label ? "constant" : "uniform");
    if (is_label) filler->set_value(3);
  }
}

// One iteration, of one small batch, with a test before it. Inner products with
// 4096 outputs get fewer: their random numbers would take most of the time.
SolverParameter SolverOf(const string& file, const vector<int>& images) {
  SolverParameter solver;
  ReadSolverParamsFromTextFileOrDie(kProject + file, &solver);
  NetParameter* const net = solver.mutable_net_param();
  ReadNetParamsFromTextFileOrDie(kProject + solver.net(), net);
  solver.clear_net();
  for (LayerParameter& layer : *net->mutable_layer()) {
    if (layer.type() == "Data") MakeDummy(images, &layer);
    if (layer.inner_product_param().num_output() == 4096) {
      layer.mutable_inner_product_param()->set_num_output(64);
    }
  }
  for (int& iterations : *solver.mutable_test_iter()) iterations = 1;
  solver.set_test_initialization(true);
  solver.clear_iter_size();
  solver.clear_snapshot();
  solver.clear_display();
  solver.set_random_seed(5);
  return solver;
}

double Distance(const vector<float>& a, const vector<float>& b) {
  CHECK_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
  }
  return std::sqrt(sum);
}

class ModelTrainingTest : public ::testing::TestWithParam<Training> {};

TEST_P(ModelTrainingTest, CompressionHardlyChangesTheFirstUpdate) {
  const Training& training = GetParam();
  const string files = training.solver;
  const auto plain =
      MakeSolver<float>(SolverOf(files + "solver.prototxt", training.images));
  ASSERT_FALSE(plain->test_nets().empty());
  const vector<float> before = WeightsOf(*plain);
  plain->Step(1);
  const vector<float> after = WeightsOf(*plain);
  const double step = Distance(before, after);
  EXPECT_TRUE(std::isfinite(step));
  EXPECT_GT(step, 0);

  const auto compressed = MakeSolver<float>(
      SolverOf(files + "solver_compressed.prototxt", training.images));
  ASSERT_TRUE(compressed->param().has_compression());
  EXPECT_EQ(0, Distance(before, WeightsOf(*compressed)));
  compressed->Step(1);
  const double error = Distance(after, WeightsOf(*compressed)) / step;
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.1);
}

string TrainingName(const ::testing::TestParamInfo<Training>& info) {
  return std::regex_replace(string(info.param.solver), std::regex("[^a-z0-9]"),
                            "_");
}

INSTANTIATE_TEST_SUITE_P(All, ModelTrainingTest,
                         ::testing::ValuesIn(kTrainings), TrainingName);

}  // namespace

}  // namespace caffe
