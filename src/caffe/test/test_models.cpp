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
  param.mutable_state()->add_stage("test-on-test");
  NetParameter filtered;
  Net<float>::FilterNet(param, &filtered);
  for (LayerParameter& layer : *filtered.mutable_layer()) {
    layer.mutable_convolution_param()->clear_weight_filler();
    layer.mutable_inner_product_param()->clear_weight_filler();
    if (layer.type() != "Data") continue;
    layer.set_type("Input");
    layer.clear_data_param();
    layer.clear_transform_param();
    for (int i = 0; i < layer.top_size(); ++i) {
      BlobShape* const shape = layer.mutable_input_param()->add_shape();
      vector<int> extents = image;
      // A label for the image, or for each of its points.
      if (i > 0) extents.resize(1);
      if (layer.top(0) == "label") extents[1] = 1;
      for (const int extent : extents) shape->add_dim(extent);
    }
  }
  EXPECT_EQ("Input", filtered.layer(0).type()) << file;
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
  // Of the deployed net.
  int64_t parameters;
  // Channels, height and width of tops of the deployed net, without extents of
  // 1 at the end.
  vector<std::pair<const char*, vector<int>>> tops;
  // Of what is there for training only.
  int64_t auxiliary_parameters = 0;
  vector<const char*> outputs = {"accuracy", "loss"};
};

// For the test's report.
void PrintTo(const Model& model, std::ostream* out) { *out << model.deploy; }

const Model kModels[] = {
    {"models/bvlc_alexnet/train_val.prototxt",
     "models/bvlc_alexnet/deploy.prototxt",
     {1, 3, 227, 227},
     60965224,
     {{"conv1", {96, 55, 55}},
      {"norm1", {96, 55, 55}},
      {"pool1", {96, 27, 27}},
      {"conv2", {256, 27, 27}},
      {"norm2", {256, 27, 27}},
      {"pool2", {256, 13, 13}},
      {"conv3", {384, 13, 13}},
      {"conv4", {384, 13, 13}},
      {"conv5", {256, 13, 13}},
      {"pool5", {256, 6, 6}},
      {"fc6", {4096}},
      {"fc7", {4096}},
      {"prob", {1000}}}},
    {"models/bvlc_reference_caffenet/train_val.prototxt",
     "models/bvlc_reference_caffenet/deploy.prototxt",
     {1, 3, 227, 227},
     60965224,
     {{"conv1", {96, 55, 55}},
      {"pool1", {96, 27, 27}},
      {"norm1", {96, 27, 27}},
      {"conv2", {256, 27, 27}},
      {"pool2", {256, 13, 13}},
      {"norm2", {256, 13, 13}},
      {"conv3", {384, 13, 13}},
      {"conv4", {384, 13, 13}},
      {"conv5", {256, 13, 13}},
      {"pool5", {256, 6, 6}},
      {"fc6", {4096}},
      {"fc7", {4096}},
      {"prob", {1000}}}},
    {"models/vgg16/train_val.prototxt",
     "models/vgg16/deploy.prototxt",
     {1, 3, 224, 224},
     138357544,
     {{"conv1_1", {64, 224, 224}},
      {"conv1_2", {64, 224, 224}},
      {"pool1", {64, 112, 112}},
      {"conv2_1", {128, 112, 112}},
      {"conv2_2", {128, 112, 112}},
      {"pool2", {128, 56, 56}},
      {"conv3_1", {256, 56, 56}},
      {"conv3_2", {256, 56, 56}},
      {"conv3_3", {256, 56, 56}},
      {"pool3", {256, 28, 28}},
      {"conv4_1", {512, 28, 28}},
      {"conv4_2", {512, 28, 28}},
      {"conv4_3", {512, 28, 28}},
      {"pool4", {512, 14, 14}},
      {"conv5_1", {512, 14, 14}},
      {"conv5_2", {512, 14, 14}},
      {"conv5_3", {512, 14, 14}},
      {"pool5", {512, 7, 7}},
      {"fc6", {4096}},
      {"fc7", {4096}},
      {"prob", {1000}}}},
    {"models/vgg19/train_val.prototxt",
     "models/vgg19/deploy.prototxt",
     {1, 3, 224, 224},
     143667240,
     {{"conv1_1", {64, 224, 224}},
      {"conv1_2", {64, 224, 224}},
      {"pool1", {64, 112, 112}},
      {"conv2_1", {128, 112, 112}},
      {"conv2_2", {128, 112, 112}},
      {"pool2", {128, 56, 56}},
      {"conv3_1", {256, 56, 56}},
      {"conv3_2", {256, 56, 56}},
      {"conv3_3", {256, 56, 56}},
      {"conv3_4", {256, 56, 56}},
      {"pool3", {256, 28, 28}},
      {"conv4_1", {512, 28, 28}},
      {"conv4_2", {512, 28, 28}},
      {"conv4_3", {512, 28, 28}},
      {"conv4_4", {512, 28, 28}},
      {"pool4", {512, 14, 14}},
      {"conv5_1", {512, 14, 14}},
      {"conv5_2", {512, 14, 14}},
      {"conv5_3", {512, 14, 14}},
      {"conv5_4", {512, 14, 14}},
      {"pool5", {512, 7, 7}},
      {"fc6", {4096}},
      {"fc7", {4096}},
      {"prob", {1000}}}},
    // What the table in the paper says. Published counts of parameters are of
    // the net without the two classifiers on its way, which have a convolution
    // of 1 x 1 and two inner products each.
    {"models/bvlc_googlenet/train_val.prototxt",
     "models/bvlc_googlenet/deploy.prototxt",
     {1, 3, 224, 224},
     6998552,
     {{"conv1/7x7_s2", {64, 112, 112}},
      {"pool1/norm1", {64, 56, 56}},
      {"conv2/3x3", {192, 56, 56}},
      {"pool2/3x3_s2", {192, 28, 28}},
      {"inception_3a/output", {256, 28, 28}},
      {"inception_3b/output", {480, 28, 28}},
      {"inception_4a/output", {512, 14, 14}},
      {"inception_4b/output", {512, 14, 14}},
      {"inception_4c/output", {512, 14, 14}},
      {"inception_4d/output", {528, 14, 14}},
      {"inception_4e/output", {832, 14, 14}},
      {"inception_5a/output", {832, 7, 7}},
      {"inception_5b/output", {1024, 7, 7}},
      {"pool5/7x7_s1", {1024}},
      {"prob", {1000}}},
     (512 + 528) * 128 + 2 * (128 + (2048 + 1) * 1024 + (1024 + 1) * 1000),
     {"loss1/loss1", "loss1/top-1", "loss1/top-5", "loss2/loss1", "loss2/top-1",
      "loss2/top-5", "loss3/loss3", "loss3/top-1", "loss3/top-5"}},
    {"models/squeezenet_v1.1/train_val.prototxt",
     "models/squeezenet_v1.1/deploy.prototxt",
     {1, 3, 227, 227},
     1235496,
     {{"conv1", {64, 113, 113}},
      {"pool1", {64, 56, 56}},
      {"fire3/concat", {128, 56, 56}},
      {"pool3", {128, 28, 28}},
      {"fire5/concat", {256, 28, 28}},
      {"pool5", {256, 14, 14}},
      {"fire7/concat", {384, 14, 14}},
      {"fire9/concat", {512, 14, 14}},
      {"conv10", {1000, 14, 14}},
      {"prob", {1000}}}},
    {"models/mobilenet/train_val.prototxt",
     "models/mobilenet/deploy.prototxt",
     {1, 3, 224, 224},
     4231976,
     {{"conv1/bn", {32, 112, 112}},
      {"conv2_1/dw", {32, 112, 112}},
      {"conv2_1/sep", {64, 112, 112}},
      {"conv2_2/sep", {128, 56, 56}},
      {"conv3_2/sep", {256, 28, 28}},
      {"conv4_2/sep", {512, 14, 14}},
      {"conv5_5/sep", {512, 14, 14}},
      {"conv5_6/dw", {512, 7, 7}},
      {"conv6/sep", {1024, 7, 7}},
      {"pool6", {1024}},
      {"prob", {1000}}}},
    {"models/resnet18/train_val.prototxt",
     "models/resnet18/deploy.prototxt",
     {1, 3, 224, 224},
     11689512,
     {{"conv1", {64, 112, 112}},
      {"pool1", {64, 56, 56}},
      {"res2a_branch2a", {64, 56, 56}},
      {"res2a_branch2b", {64, 56, 56}},
      {"res2a", {64, 56, 56}},
      {"res2b", {64, 56, 56}},
      {"res3a_branch2a", {128, 28, 28}},
      {"res3a_branch2b", {128, 28, 28}},
      {"res3a_branch1", {128, 28, 28}},
      {"res3a", {128, 28, 28}},
      {"res3b", {128, 28, 28}},
      {"res4a_branch2a", {256, 14, 14}},
      {"res4a_branch2b", {256, 14, 14}},
      {"res4a_branch1", {256, 14, 14}},
      {"res4a", {256, 14, 14}},
      {"res4b", {256, 14, 14}},
      {"res5a_branch2a", {512, 7, 7}},
      {"res5a_branch2b", {512, 7, 7}},
      {"res5a_branch1", {512, 7, 7}},
      {"res5a", {512, 7, 7}},
      {"res5b", {512, 7, 7}},
      {"pool5", {512}},
      {"prob", {1000}}}},
    {"models/resnet50/train_val.prototxt",
     "models/resnet50/deploy.prototxt",
     {1, 3, 224, 224},
     25557096,
     {{"conv1", {64, 112, 112}},
      {"pool1", {64, 56, 56}},
      {"res2a_branch2a", {64, 56, 56}},
      {"res2a_branch2b", {64, 56, 56}},
      {"res2a_branch1", {256, 56, 56}},
      {"res2a", {256, 56, 56}},
      {"res2b_branch2a", {64, 56, 56}},
      {"res2b_branch2b", {64, 56, 56}},
      {"res2b", {256, 56, 56}},
      {"res2c", {256, 56, 56}},
      {"res3a_branch2a", {128, 28, 28}},
      {"res3a_branch2b", {128, 28, 28}},
      {"res3a_branch1", {512, 28, 28}},
      {"res3a", {512, 28, 28}},
      {"res3b_branch2a", {128, 28, 28}},
      {"res3b_branch2b", {128, 28, 28}},
      {"res3b", {512, 28, 28}},
      {"res3c", {512, 28, 28}},
      {"res3d", {512, 28, 28}},
      {"res4a_branch2a", {256, 14, 14}},
      {"res4a_branch2b", {256, 14, 14}},
      {"res4a_branch1", {1024, 14, 14}},
      {"res4a", {1024, 14, 14}},
      {"res4b_branch2a", {256, 14, 14}},
      {"res4b_branch2b", {256, 14, 14}},
      {"res4b", {1024, 14, 14}},
      {"res4c", {1024, 14, 14}},
      {"res4d", {1024, 14, 14}},
      {"res4e", {1024, 14, 14}},
      {"res4f", {1024, 14, 14}},
      {"res5a_branch2a", {512, 7, 7}},
      {"res5a_branch2b", {512, 7, 7}},
      {"res5a_branch1", {2048, 7, 7}},
      {"res5a", {2048, 7, 7}},
      {"res5b_branch2a", {512, 7, 7}},
      {"res5b_branch2b", {512, 7, 7}},
      {"res5b", {2048, 7, 7}},
      {"res5c", {2048, 7, 7}},
      {"pool5", {2048}},
      {"prob", {1000}}}},
    {"examples/mnist/lenet_train_test.prototxt",
     "examples/mnist/lenet.prototxt",
     {1, 1, 28, 28},
     431080,
     {{"pool2", {50, 4, 4}}, {"prob", {10}}}},
    {"examples/mnist/mnist_autoencoder.prototxt",
     "examples/mnist/mnist_autoencoder_deploy.prototxt",
     {1, 1, 28, 28},
     2837314,
     {{"encode1", {1000}}, {"encode4", {30}}, {"decode1neuron", {784}}},
     0,
     {"cross_entropy_loss", "l2_error"}},
    {"examples/cifar10/cifar10_quick_train_test.prototxt",
     "examples/cifar10/cifar10_quick.prototxt",
     {1, 3, 32, 32},
     145578,
     {{"pool3", {64, 4, 4}}, {"prob", {10}}}},
    {"examples/cifar10/cifar10_full_train_test.prototxt",
     "examples/cifar10/cifar10_full.prototxt",
     {1, 3, 32, 32},
     89578,
     {{"pool3", {64, 4, 4}}, {"prob", {10}}}},
    // With convolutions in the two shortcuts that change the shape.
    {"examples/cifar10/cifar10_resnet20_train_test.prototxt",
     "examples/cifar10/cifar10_resnet20.prototxt",
     {1, 3, 32, 32},
     272474,
     {{"res2c", {16, 32, 32}}, {"res4c", {64, 8, 8}}, {"prob", {10}}}},
    {"examples/cifar10/cifar10_resnet56_train_test.prototxt",
     "examples/cifar10/cifar10_resnet56.prototxt",
     {1, 3, 32, 32},
     855770,
     {{"res2i", {16, 32, 32}},
      {"res3i", {32, 16, 16}},
      {"res4i", {64, 8, 8}},
      {"prob", {10}}}},
    {"examples/segmentation/shapes_fcn_train_test.prototxt",
     "examples/segmentation/shapes_fcn.prototxt",
     {1, 3, 64, 64},
     72472,
     {{"pool3", {64, 8, 8}},
      {"upscore2", {4, 18, 18}},
      {"upscore2c", {4, 16, 16}},
      {"upscore4", {4, 68, 68}},
      {"prob", {4, 64, 64}}},
     0,
     {"accuracy", "class_accuracy", "loss"}},
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

TEST_P(ModelTest, HasThePublishedSizesAndDeploysWhatItTrains) {
  const Model& model = GetParam();
  const Net<float> test(WithInput(model.train, model.image));
  for (const char* const output : model.outputs) {
    EXPECT_TRUE(test.has_blob(output)) << output;
  }
  const Net<float> deploy(kProject + model.deploy, TEST);
  ASSERT_EQ(1, deploy.num_inputs());
  vector<int> input = deploy.input_blobs()[0]->shape();
  const int batch_size = input[0];
  input[0] = 1;
  EXPECT_EQ(model.image, input);
  for (const auto& [name, extents] : model.tops) {
    vector<int> shape = deploy.blob_by_name(name)->shape();
    while (shape.back() == 1) shape.pop_back();
    EXPECT_EQ(batch_size, shape[0]) << name;
    shape.erase(shape.begin());
    EXPECT_EQ(extents, shape) << name;
  }

  EXPECT_EQ(model.parameters, LearnedParameters(deploy));
  EXPECT_EQ(model.parameters + model.auxiliary_parameters,
            LearnedParameters(test));
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

// Prototxts cannot include others, so the settings are there twice.
TEST(PrototxtTest, SolversWithCompressionDifferInNothingElse) {
  int files = 0;
  const string ending = "solver_compressed.prototxt";
  for (const char* const folder : {"models", "examples"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(kProject + folder)) {
      const string path = entry.path().string();
      if (!path.ends_with(ending)) continue;
      ++files;
      SolverParameter compressed, plain;
      ReadSolverParamsFromTextFileOrDie(path, &compressed);
      ReadSolverParamsFromTextFileOrDie(
          path.substr(0, path.size() - ending.size()) + "solver.prototxt",
          &plain);
      EXPECT_TRUE(compressed.has_compression()) << path;
      EXPECT_EQ(plain.snapshot_prefix() + "_compressed",
                compressed.snapshot_prefix());
      compressed.clear_compression();
      compressed.set_snapshot_prefix(plain.snapshot_prefix());
      EXPECT_EQ(plain.DebugString(), compressed.DebugString()) << path;
    }
  }
  EXPECT_GE(files, 12);
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
