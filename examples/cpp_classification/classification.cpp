#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>
#include <vector>

#include "caffe/caffe.hpp"
#include "tool.hpp"

// Names what is in an image: the whole way from a file to the names of the
// likeliest classes, with nothing but a net, its weights, its mean image and a
// list of names.

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: classification DEPLOY_PROTOTXT WEIGHTS MEAN_BINARYPROTO LABELS "
    "IMAGE\n"
    "Prints the five likeliest classes of an image, with their probabilities.\n"
    "LABELS has the names of the classes, one a line.\n"
    "\n"
    "Example:\n"
    "  classification models/bvlc_alexnet/deploy.prototxt alexnet.caffemodel "
    "\\\n"
    "    imagenet_mean.binaryproto synset_words.txt cat.jpg\n";

constexpr size_t kShown = 5;

std::vector<string> ReadLabels(const string& filename) {
  std::ifstream file(filename);
  Require(file.good(), "cannot read ", filename);
  std::vector<string> labels;
  for (string line; std::getline(file, line);) labels.push_back(line);
  return labels;
}

// The mean of each channel over the whole mean image: images of any size have
// it in common.
cv::Scalar ReadMean(const string& filename, int channels) {
  BlobProto proto;
  ReadProtoFromBinaryFileOrDie(filename, &proto);
  Blob<float> mean;
  mean.FromProto(proto);
  Require(mean.num_axes() <= 4 && mean.num() == 1 &&
              mean.channels() == channels && mean.count() > 0,
          filename, " has the shape ", mean.shape_string(),
          ", where the net's images have ", channels, " channel(s)");
  cv::Scalar scalar;
  const int area = mean.count() / channels;
  for (int c = 0; c < channels; ++c) {
    const float* const plane = mean.cpu_data() + c * area;
    scalar[c] = std::accumulate(plane, plane + area, 0.0) / area;
  }
  return scalar;
}

// An image with as many channels as the net reads.
cv::Mat ReadImage(const string& filename, int channels) {
  cv::Mat image = cv::imread(
      filename, channels == 3 ? cv::IMREAD_COLOR : cv::IMREAD_GRAYSCALE);
  Require(!image.empty(), filename, " is not an image");
  return image;
}

class Classifier {
 public:
  Classifier(const string& net_file, const string& weights_file,
             const string& mean_file, const string& label_file)
      : net_(net_file, TEST), labels_(ReadLabels(label_file)) {
    net_.CopyTrainedLayersFrom(weights_file);
    Require(net_.num_inputs() == 1 && net_.num_outputs() == 1, net_file,
            " has ", net_.num_inputs(), " input(s) and ", net_.num_outputs(),
            " output(s) where one of each is needed");
    const Blob<float>& input = *net_.input_blobs()[0];
    Require(input.num_axes() == 4 &&
                (input.channels() == 3 || input.channels() == 1),
            net_file, " reads a blob of shape ", input.shape_string(),
            " where images of 1 or 3 channels are needed");
    const Blob<float>& output = *net_.output_blobs()[0];
    const int classes = output.num_axes() > 1 ? output.count(1) : 0;
    Require(classes == static_cast<int>(labels_.size()), label_file, " has ",
            labels_.size(), " names, and the net ", classes, " classes");
    mean_ = ReadMean(mean_file, input.channels());
  }

  int channels() const { return net_.input_blobs()[0]->channels(); }

  // The likeliest classes with their probabilities, likeliest first.
  std::vector<std::pair<string, float>> Classify(const cv::Mat& image) {
    SetInput(image);
    const float* const scores = net_.Forward()[0]->cpu_data();
    std::vector<size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), 0);
    const size_t shown = std::min(kShown, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<ptrdiff_t>(shown),
        order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    std::vector<std::pair<string, float>> likeliest;
    for (size_t i = 0; i < shown; ++i) {
      likeliest.emplace_back(labels_[order[i]], scores[order[i]]);
    }
    return likeliest;
  }

 private:
  // Brings the image to the size of the input, subtracts the mean, and writes
  // its channels one after the other, as blobs have them.
  void SetInput(const cv::Mat& image) {
    Blob<float>* const input = net_.input_blobs()[0];
    const cv::Size size(input->width(), input->height());
    input->Reshape(1, channels(), size.height, size.width);
    net_.Reshape();
    cv::Mat pixels;
    cv::resize(image, pixels, size);
    pixels.convertTo(pixels, CV_32FC(channels()));
    cv::subtract(pixels, mean_, pixels);
    std::vector<cv::Mat> planes;
    for (int c = 0; c < channels(); ++c) {
      planes.emplace_back(size, CV_32FC1,
                          input->mutable_cpu_data() + input->offset(0, c));
    }
    cv::split(pixels, planes);
  }

  Net<float> net_;
  const std::vector<string> labels_;
  cv::Scalar mean_;
};

int Run(int argc, char** argv) {
  RequireUsage(argc == 6, kUsage);
  Caffe::set_mode(Caffe::CPU);
  Classifier classifier(argv[1], argv[2], argv[3], argv[4]);
  const string file = argv[5];
  std::cout << "---------- Prediction for " << file << " ----------"
            << std::endl;
  const cv::Mat image = ReadImage(file, classifier.channels());
  for (const auto& [label, probability] : classifier.Classify(image)) {
    std::cout << std::fixed << std::setprecision(4) << probability << " - \""
              << label << "\"" << std::endl;
  }
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("classification", argc, argv, caffe::kUsage,
                        caffe::Run);
}
