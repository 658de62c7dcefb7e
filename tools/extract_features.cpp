#include <glog/logging.h>

#include <charconv>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/net.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "database_writer.hpp"
#include "tool.hpp"

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: extract_features WEIGHTS NET BLOB[,BLOB...] DATASET[,DATASET...] "
    "BATCHES DB_TYPE [CPU|GPU] [DEVICE_ID]\n"
    "Runs BATCHES batches of NET, a prototxt with its own data, in the TEST\n"
    "phase with the weights of a caffemodel, and writes the values of every\n"
    "BLOB to a new database, one float datum for each image. DB_TYPE is lmdb "
    "or\n"
    "leveldb.\n"
    "\n"
    "Example:\n"
    "  extract_features net.caffemodel net.prototxt fc7,prob "
    "fc7_lmdb,prob_lmdb "
    "10 lmdb GPU 0\n";

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

int ParseNumber(const std::string& what, const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  Require(error == std::errc() && stopped == end && number >= 0, what,
          " must be a number, not '", text, "'");
  return number;
}

void ChooseDevice(int argc, char** argv) {
  if (argc > 7 && std::string(argv[7]) == "GPU") {
    const int device = argc > 8 ? ParseNumber("DEVICE_ID", argv[8]) : 0;
    LOG(INFO) << "Using Device_id=" << device;
    Caffe::SetDevice(device);
    Caffe::set_mode(Caffe::GPU);
  } else {
    LOG(INFO) << "Using CPU";
    Caffe::set_mode(Caffe::CPU);
  }
}

// A blob of the net and the database that its values go to.
class Feature {
 public:
  Feature(const std::string& blob_name, shared_ptr<Blob<float>> blob,
          const std::string& backend, const std::string& path)
      : name_(blob_name), blob_(std::move(blob)), database_(backend, path) {}

  // Writes the batch that the net has just computed.
  void WriteBatch() {
    Require(blob_->num_axes() > 0 && blob_->shape(0) > 0, "blob '", name_,
            "' has no images, its shape is ", blob_->shape_string());
    const bool is_image = blob_->num_axes() <= 4;
    const int size = blob_->count(1);
    Datum datum;
    datum.set_channels(is_image ? blob_->channels() : size);
    datum.set_height(is_image ? blob_->height() : 1);
    datum.set_width(is_image ? blob_->width() : 1);
    for (int n = 0; n < blob_->shape(0); ++n) {
      const float* const values = blob_->cpu_data() + int64_t{n} * size;
      datum.mutable_float_data()->Assign(values, values + size);
      database_.Put(format_int(static_cast<int>(database_.count()), 10), datum);
    }
  }

  void Finish() {
    database_.Finish();
    LOG(INFO) << "Extracted features of " << database_.count()
              << " query images for feature blob " << name_;
  }

 private:
  const std::string name_;
  const shared_ptr<Blob<float>> blob_;
  DatabaseWriter database_;
};

int Run(int argc, char** argv) {
  RequireUsage(argc >= 7 && argc <= 9, kUsage);
  const std::vector<std::string> blobs = SplitAtCommas(argv[3]);
  const std::vector<std::string> datasets = SplitAtCommas(argv[4]);
  Require(!blobs.empty() && blobs.size() == datasets.size(), "there are ",
          blobs.size(), " blobs and ", datasets.size(),
          " datasets; give one dataset for each blob");
  const int batches = ParseNumber("BATCHES", argv[5]);
  ChooseDevice(argc, argv);

  Net<float> net(argv[2], TEST);
  net.CopyTrainedLayersFrom(argv[1]);
  std::vector<std::unique_ptr<Feature>> features;
  for (size_t i = 0; i < blobs.size(); ++i) {
    Require(net.has_blob(blobs[i]), "net ", argv[2], " has no blob '", blobs[i],
            "'");
    LOG(INFO) << "Opening dataset " << datasets[i];
    features.push_back(std::make_unique<Feature>(
        blobs[i], net.blob_by_name(blobs[i]), argv[6], datasets[i]));
  }

  LOG(INFO) << "Extracting Features";
  Progress progress("batches", batches);
  for (int i = 0; i < batches; ++i) {
    net.Forward();
    for (const auto& feature : features) feature->WriteBatch();
    progress.Add();
  }
  progress.Finish();
  for (const auto& feature : features) feature->Finish();
  LOG(INFO) << "Successfully extracted the features!";
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("extract_features", argc, argv, caffe::kUsage,
                        caffe::Run);
}
