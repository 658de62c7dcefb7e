#include <filesystem>
#include <regex>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/upgrade_proto.hpp"

// The nets in models/ and examples/ as the library builds them, compared with
// the shapes and sizes that were published.

namespace caffe {

namespace {

const string kProject = string(PROJECT_DIR) + "/";

// The net with one image instead of its databases, and without fillers, whose
// random numbers would take the most time.
NetParameter WithInput(const string& file, const vector<int>& image) {
  NetParameter param;
  ReadNetParamsFromTextFileOrDie(kProject + file, &param);
  param.mutable_state()->set_phase(TEST);
  NetParameter filtered;
  Net<float>::FilterNet(param, &filtered);
  LayerParameter* const data = filtered.mutable_layer(0);
  EXPECT_EQ("Data", data->type()) << file;
  data->set_type("Input");
  data->clear_data_param();
  data->clear_transform_param();
  BlobShape* const shape = data->mutable_input_param()->add_shape();
  for (const int extent : image) shape->add_dim(extent);
  data->mutable_input_param()->add_shape()->add_dim(image[0]);
  for (LayerParameter& layer : *filtered.mutable_layer()) {
    layer.mutable_convolution_param()->clear_weight_filler();
    layer.mutable_inner_product_param()->clear_weight_filler();
  }
  return filtered;
}

int64_t LearnedParameters(const Net<float>& net) {
  int64_t count = 0;
  for (int i = 0; i < net.learnable_params().size(); ++i) {
    // The running statistics of batch normalization are not learned.
    if (net.params_lr()[i] != 0) count += net.learnable_params()[i]->count();
  }
  return count;
}

struct Model {
  const char* train;
  const char* deploy;
  vector<int> image;
  int64_t parameters;
  int classes;
};

// For the test's report.
void PrintTo(const Model& model, std::ostream* out) { *out << model.deploy; }

const Model kModels[] = {
    {"models/bvlc_alexnet/train_val.prototxt",
     "models/bvlc_alexnet/deploy.prototxt",
     {1, 3, 227, 227},
     60965224,
     1000},
    {"models/vgg16/train_val.prototxt",
     "models/vgg16/deploy.prototxt",
     {1, 3, 224, 224},
     138357544,
     1000},
    {"models/resnet18/train_val.prototxt",
     "models/resnet18/deploy.prototxt",
     {1, 3, 224, 224},
     11689512,
     1000},
    {"models/resnet50/train_val.prototxt",
     "models/resnet50/deploy.prototxt",
     {1, 3, 224, 224},
     25557096,
     1000},
    {"examples/mnist/lenet_train_test.prototxt",
     "examples/mnist/lenet.prototxt",
     {1, 1, 28, 28},
     431080,
     10},
    {"examples/cifar10/cifar10_quick_train_test.prototxt",
     "examples/cifar10/cifar10_quick.prototxt",
     {1, 3, 32, 32},
     145578,
     10},
    {"examples/cifar10/cifar10_full_train_test.prototxt",
     "examples/cifar10/cifar10_full.prototxt",
     {1, 3, 32, 32},
     89578,
     10},
    // With convolutions in the two shortcuts that change the shape.
    {"examples/cifar10/cifar10_resnet20_train_test.prototxt",
     "examples/cifar10/cifar10_resnet20.prototxt",
     {1, 3, 32, 32},
     272474,
     10},
};

// Weights go from training to deployment by layer name and shape.
void ExpectWeightsFit(const Net<float>& trained, const Net<float>& deploy) {
  for (const string& name : deploy.layer_names()) {
    const auto& blobs = deploy.layer_by_name(name)->blobs();
    if (blobs.empty()) continue;
    ASSERT_TRUE(trained.has_layer(name)) << name;
    const auto& weights = trained.layer_by_name(name)->blobs();
    ASSERT_EQ(weights.size(), blobs.size()) << name;
    for (int i = 0; i < blobs.size(); ++i) {
      EXPECT_EQ(weights[i]->shape(), blobs[i]->shape()) << name;
    }
  }
}

class ModelTest : public ::testing::TestWithParam<Model> {};

TEST_P(ModelTest, HasThePublishedSizeAndDeploysWhatItTrains) {
  const Model& model = GetParam();
  const Net<float> test(WithInput(model.train, model.image));
  EXPECT_EQ(model.parameters, LearnedParameters(test));
  EXPECT_TRUE(test.has_blob("accuracy"));
  EXPECT_TRUE(test.has_blob("loss"));
  const Net<float> deploy(kProject + model.deploy, TEST);
  ASSERT_EQ(1, deploy.num_inputs());
  vector<int> input = deploy.input_blobs()[0]->shape();
  input[0] = 1;
  EXPECT_EQ(model.image, input);
  EXPECT_EQ(model.classes, deploy.blob_by_name("prob")->shape(1));

  ASSERT_EQ(test.params().size(), deploy.params().size());
  ExpectWeightsFit(test, deploy);
}

string ModelName(const ::testing::TestParamInfo<Model>& info) {
  return std::regex_replace(string(info.param.deploy), std::regex("[^a-z0-9]"),
                            "_");
}

INSTANTIATE_TEST_SUITE_P(All, ModelTest, ::testing::ValuesIn(kModels),
                         ModelName);

// Every prototxt that is shipped says what it means with fields that exist,
// and every solver finds its net from the project's folder.
TEST(PrototxtTest, EveryOneParses) {
  int files = 0;
  for (const char* const folder : {"models", "examples"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(kProject + folder)) {
      const string path = entry.path().string();
      if (entry.path().extension() != ".prototxt") continue;
      ++files;
      if (path.find("solver") == string::npos) {
        NetParameter net;
        ASSERT_NO_THROW(ReadNetParamsFromTextFileOrDie(path, &net)) << path;
        EXPECT_GT(net.layer_size(), 0) << path;
        continue;
      }
      SolverParameter solver;
      ASSERT_NO_THROW(ReadSolverParamsFromTextFileOrDie(path, &solver)) << path;
      EXPECT_TRUE(
          std::filesystem::exists(kProject + solver.net()) ||
          std::filesystem::exists(entry.path().parent_path() / solver.net()))
          << path << " names " << solver.net();
    }
  }
  EXPECT_GE(files, 20);
}

TEST(SiameseTest, BothTowersHaveTheSameWeights) {
  const Net<float> net(WithInput(
      "examples/siamese/mnist_siamese_train_test.prototxt", {1, 2, 28, 28}));
  EXPECT_EQ(20u, net.params().size());
  EXPECT_EQ(10u, net.learnable_params().size());
  // LeNet's, and two numbers made of its ten.
  EXPECT_EQ(431080 + 22, LearnedParameters(net));
  EXPECT_EQ(net.layer_by_name("conv1")->blobs()[0]->cpu_data(),
            net.layer_by_name("conv1_p")->blobs()[0]->cpu_data());
  const Net<float> deploy(kProject + "examples/siamese/mnist_siamese.prototxt",
                          TEST);
  ExpectWeightsFit(net, deploy);
  EXPECT_EQ(2, deploy.blob_by_name("feat")->shape(1));
}

}  // namespace

}  // namespace caffe
