#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Nets and weights in files.
class NetFilesTest : public ::testing::Test {
 protected:
  NetFilesTest() { MakeTempDir(&folder_); }
  ~NetFilesTest() override { std::filesystem::remove_all(folder_); }

  string Write(const string& name, const string& text) const {
    string filename = folder_ + "/" + name;
    std::ofstream(filename) << text;
    return filename;
  }

  // A net with one layer of two weights and two offsets.
  static string OneLayer(const string& name, float scale, int size = 2) {
    return Concat(
        "layer { name: 'in' type: 'Input' top: 'x' "
        "input_param { shape { dim: 1 dim: ",
        size, " } } } layer { name: '", name,
        "' type: 'Affine' bottom: 'x' top: 'y' power_param { scale: ", scale,
        " } }");
  }

  string folder_;
};

TEST_F(NetFilesTest, PhaseLevelAndStagesChooseTheLayers) {
  const string file = Write("net.prototxt", R"(
    name: 'choice'
    state { phase: TRAIN level: 9 }
    layer { name: 'always' type: 'Input' top: 'a' }
    layer { name: 'train' type: 'Input' top: 'b' include { phase: TRAIN } }
    layer { name: 'high' type: 'Input' top: 'c' include { min_level: 2 } }
    layer { name: 'deploy' type: 'Input' top: 'd'
            include { stage: 'deploy' } })");
  EXPECT_EQ((vector<string>{"always"}), Net<float>(file, TEST).layer_names());
  EXPECT_EQ((vector<string>{"always", "train"}),
            Net<float>(file, TRAIN).layer_names());
  EXPECT_EQ((vector<string>{"always", "high"}),
            Net<float>(file, TEST, 2).layer_names());
  const vector<string> stages = {"other", "deploy"};
  const Net<double> net(file, TRAIN, 3, &stages);
  EXPECT_EQ((vector<string>{"always", "train", "high", "deploy"}),
            net.layer_names());
  EXPECT_EQ("choice", net.name());
  EXPECT_EQ(TRAIN, net.phase());
}

TEST_F(NetFilesTest, UpgradesOldNets) {
  const string old_net = R"(
    input: 'x' input_dim: 1 input_dim: 2 input_dim: 1 input_dim: 1
    layers { name: 'prob' type: SOFTMAX bottom: 'x' top: 'prob' })";
  const Net<float> from_file(Write("old.prototxt", old_net), TEST);
  const Net<float> from_memory(ParseNet(old_net));
  for (const Net<float>* net : {&from_file, &from_memory}) {
    EXPECT_EQ(1, net->num_inputs());
    EXPECT_STREQ("Softmax", net->layer_by_name("prob")->type());
    EXPECT_EQ((vector<int>{1, 2, 1, 1}), net->blob_by_name("prob")->shape());
  }
}

TEST_F(NetFilesTest, ErrorsNameTheFile) {
  const string file = Write("bad.prototxt", R"(
    layer { name: 'a' type: 'Softmax' bottom: 'x' top: 'y' })");
  EXPECT_EQ(file +
                ": layer 'a' (Softmax): unknown bottom blob 'x' (bottom index "
                "0): no layer before makes it",
            ErrorOf([&] { Net<float>(file, TEST); }));
  EXPECT_EQ(
      "cannot read " + folder_ + "/none.prototxt: No such file or directory",
      ErrorOf([&] { Net<float>(folder_ + "/none.prototxt", TEST); }));
}

TEST_F(NetFilesTest, WeightsGoThroughABinaryFile) {
  const string file = folder_ + "/net.caffemodel";
  NetParameter saved;
  MakeNet<float>(OneLayer("a", 7))->ToProto(&saved);
  WriteProtoToBinaryFile(saved, file);
  const auto net = MakeNet<double>(OneLayer("a", 1));
  net->CopyTrainedLayersFrom(file);
  EXPECT_EQ((vector<double>{7, 7}), DataOf(*net->params()[0]));
}

TEST_F(NetFilesTest, ReadsWeightsOfOldFormats) {
  const string file = folder_ + "/v1.caffemodel";
  WriteProtoToBinaryFile(ParseNet(R"(
    layers { name: 'a' type: INNER_PRODUCT
             blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 4 }
             blobs { num: 1 channels: 1 height: 1 width: 2 data: 5 data: 6 }
           })"),
                         file);
  const auto net = MakeNet<float>(OneLayer("a", 1));
  net->CopyTrainedLayersFromBinaryProto(file);
  EXPECT_EQ((vector<float>{3, 4}), DataOf(*net->params()[0]));
  EXPECT_EQ((vector<float>{5, 6}), DataOf(*net->params()[1]));
}

TEST_F(NetFilesTest, RefusesWeightsOfAnotherNet) {
  const string file = folder_ + "/other.caffemodel";
  NetParameter saved;
  MakeNet<float>(OneLayer("a", 7, 3))->ToProto(&saved);
  WriteProtoToBinaryFile(saved, file);
  EXPECT_EQ(file +
                ": layer 'a' (Affine): its parameter 0 has the shape 2 (2) "
                "here but 3 (3) where its weights should come from; to learn "
                "the layer from scratch, rename it",
            ErrorOf([&] {
              MakeNet<float>(OneLayer("a", 1))->CopyTrainedLayersFrom(file);
            }));
  EXPECT_EQ(file + ": has no weights for any layer of this net", ErrorOf([&] {
              MakeNet<float>(OneLayer("b", 1))->CopyTrainedLayersFrom(file);
            }));
  // Where nothing is to be learned, nothing is missed.
  MakeNet<float>("layer { name: 'b' type: 'Input' top: 'x' }")
      ->CopyTrainedLayersFrom(file);
}

TEST_F(NetFilesTest, RefusesFilesThatAreNoWeights) {
  const auto net = MakeNet<float>(OneLayer("a", 1));
  const string junk = Write("junk.caffemodel", "no weights at all");
  EXPECT_NE(string::npos,
            ErrorOf([&] { net->CopyTrainedLayersFrom(junk); }).find(junk));
  NetParameter saved;
  net->ToProto(&saved);
  const string whole = saved.SerializeAsString();
  const string cut =
      Write("cut.caffemodel", whole.substr(0, whole.size() * 2 / 3));
  EXPECT_NE(string::npos,
            ErrorOf([&] { net->CopyTrainedLayersFrom(cut); }).find(cut));
  const string none = folder_ + "/none.caffemodel";
  EXPECT_EQ("cannot read " + none + ": No such file or directory",
            ErrorOf([&] { net->CopyTrainedLayersFrom(none); }));
}

}  // namespace caffe
