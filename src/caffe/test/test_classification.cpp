#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "caffe/util/io.hpp"
#include "net_test_util.hpp"
#include "tool_test_util.hpp"

// Runs examples/cpp_classification on a net whose answers can be worked out.

namespace caffe {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int kClasses = 6;
// What the score of a class has of each channel: blue, green, red.
constexpr float kWeights[kClasses][3] = {{.02, 0, 0},    {0, .02, 0},
                                         {0, 0, .02},    {.01, .01, 0},
                                         {0, .01, -.01}, {-.02, 0, 0}};
constexpr float kImage[3] = {200, 100, 50};
constexpr float kMean[3] = {120, 80, 40};

class ClassificationTest : public ToolTest {
 protected:
  ClassificationTest() {
    WriteNet(3);
    WriteMean(3);
    WriteWholeFile(
        folder_ / "labels.txt",
        "blue\ngreen\nred\nblue and green\ngreen not red\nno blue\n");
    // Larger than the net's images, which are 2 x 2.
    cv::imwrite(
        folder_ / "image.png",
        cv::Mat(6, 8, CV_8UC3, cv::Scalar(kImage[0], kImage[1], kImage[2])));
  }

  // Every class adds up its weight times a channel's mean over the image.
  void WriteNet(int channels) {
    const string text = Concat(
        "layer { name: 'data' type: 'Input' top: 'data'"
        "  input_param { shape { dim: 10 dim: ",
        channels,
        " dim: 2 dim: 2 } } }"
        "layer { name: 'scores' type: 'InnerProduct' bottom: 'data'"
        "  top: 'scores' inner_product_param { num_output: 6 } }"
        "layer { name: 'prob' type: 'Softmax' bottom: 'scores' top: 'prob' }");
    WriteWholeFile(folder_ / "net.prototxt", text);
    const auto net = MakeNet<float>(text);
    Blob<float>* const weights = net->learnable_params()[0];
    for (int k = 0; k < kClasses; ++k) {
      for (int i = 0; i < channels * 4; ++i) {
        weights->mutable_cpu_data()[k * channels * 4 + i] =
            kWeights[k][i / 4] / 4;
      }
    }
    NetParameter param;
    net->ToProto(&param);
    WriteProtoToBinaryFile(param, folder_ / "net.caffemodel");
  }

  // Of another size than the net's images, and not the same everywhere.
  void WriteMean(int channels) {
    Blob<float> mean(1, channels, 1, 2);
    for (int c = 0; c < channels; ++c) {
      mean.mutable_cpu_data()[2 * c] = kMean[c] - 10;
      mean.mutable_cpu_data()[2 * c + 1] = kMean[c] + 10;
    }
    BlobProto proto;
    mean.ToProto(&proto);
    WriteProtoToBinaryFile(proto, folder_ / "mean.binaryproto");
  }

  void ExpectComplaint(const string& complaint, const string& image) const {
    ToolTest::ExpectComplaint("classification", files_ + image, complaint);
  }

  const string files_ =
      "net.prototxt net.caffemodel mean.binaryproto "
      "labels.txt ";
};

// The lines for these classes, in that order, of an image whose channels are
// everywhere so far from the mean.
string Lines(const vector<int>& classes, const vector<double>& channels) {
  static const char* const names[kClasses] = {
      "blue", "green", "red", "blue and green", "green not red", "no blue"};
  vector<double> scores(kClasses);
  double sum = 0;
  for (int k = 0; k < kClasses; ++k) {
    for (size_t c = 0; c < channels.size(); ++c) {
      scores[k] += kWeights[k][c] * channels[c];
    }
    sum += std::exp(scores[k]);
  }
  string lines;
  for (const int k : classes) {
    char text[100];
    std::snprintf(text, sizeof(text), "%.4f - \"%s\"\n",
                  std::exp(scores[k]) / sum, names[k]);
    lines += text;
  }
  return lines;
}

constexpr char kHead[] = "---------- Prediction for image.png ----------\n";

TEST_F(ClassificationTest, PrintsTheFiveLikeliestClasses) {
  const Result result = Run("classification", files_ + "image.png");
  EXPECT_EQ(0, result.exit_code) << result.output;
  EXPECT_THAT(result.output,
              EndsWith(kHead + Lines({0, 3, 1, 2, 4}, {80, 20, 10})));
}

TEST_F(ClassificationTest, ReadsGrayImages) {
  WriteNet(1);
  WriteMean(1);
  const Result result = Run("classification", files_ + "image.png");
  EXPECT_EQ(0, result.exit_code) << result.output;
  // 0.114 blue + 0.587 green + 0.299 red.
  const double gray = 96;
  EXPECT_THAT(result.output, HasSubstr(kHead + Lines({5}, {gray - kMean[0]})));
}

TEST_F(ClassificationTest, SaysWhatDoesNotFit) {
  ExpectComplaint("wrong number of arguments", "");
  ExpectComplaint("labels.txt is not an image", "labels.txt");
  WriteMean(1);
  ExpectComplaint(
      "mean.binaryproto has the shape 1 1 1 2 (2), where the net's "
      "images have 3 channel(s)",
      "image.png");
  WriteMean(3);
  WriteWholeFile(folder_ / "labels.txt", "only\ntwo\n");
  ExpectComplaint("labels.txt has 2 names, and the net 6 classes", "image.png");
  WriteNet(2);
  ExpectComplaint("where images of 1 or 3 channels are needed", "image.png");
}

}  // namespace caffe
