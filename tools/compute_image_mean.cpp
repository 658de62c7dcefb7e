#include <gflags/gflags.h>
#include <glog/logging.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/io.hpp"
#include "data/open_database.hpp"
#include "tool.hpp"

DEFINE_string(backend, "lmdb",
              "The backend {leveldb, lmdb} that holds the images");

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: compute_image_mean [FLAGS] INPUT_DB [OUTPUT_FILE]\n"
    "Computes the mean image of a database, for transform_param's mean_file,\n"
    "and prints the mean of every channel, for its mean_value.\n"
    "\n"
    "Example:\n"
    "  compute_image_mean train_lmdb mean.binaryproto\n";

// Sums of the values of images, position by position.
class ImageSum {
 public:
  // Throws Error when the image has another size than the ones before.
  void Add(Datum* datum) {
    DecodeDatumNative(datum);
    const int64_t count =
        int64_t{datum->channels()} * datum->height() * datum->width();
    const bool is_bytes = !datum->data().empty();
    const int64_t have = is_bytes ? static_cast<int64_t>(datum->data().size())
                                  : datum->float_data_size();
    if (sums_.empty()) {
      channels_ = datum->channels();
      height_ = datum->height();
      width_ = datum->width();
      Require(channels_ > 0 && height_ > 0 && width_ > 0 && have == count,
              "it has ", have, " values for the size ", SizeString(*datum));
      sums_.resize(have);
    }
    Require(datum->channels() == channels_ && datum->height() == height_ &&
                datum->width() == width_ &&
                have == static_cast<int64_t>(sums_.size()),
            "its size is ", SizeString(*datum), " (", have,
            " values), and that of the images before it is another one");
    if (is_bytes) {
      for (size_t i = 0; i < sums_.size(); ++i) {
        sums_[i] += static_cast<uint8_t>(datum->data()[i]);
      }
    } else {
      for (size_t i = 0; i < sums_.size(); ++i) {
        sums_[i] += datum->float_data(static_cast<int>(i));
      }
    }
    ++images_;
  }

  BlobProto Mean() const {
    BlobProto mean;
    mean.set_num(1);
    mean.set_channels(channels_);
    mean.set_height(height_);
    mean.set_width(width_);
    for (const double sum : sums_) {
      mean.add_data(static_cast<float>(sum / images_));
    }
    return mean;
  }

 private:
  static std::string SizeString(const Datum& datum) {
    return Concat(datum.channels(), " x ", datum.height(), " x ",
                  datum.width());
  }

  int channels_ = 0;
  int height_ = 0;
  int width_ = 0;
  int64_t images_ = 0;
  // Not float, as in Caffe, which runs out of digits after 65793 images.
  std::vector<double> sums_;
};

void LogChannelMeans(const BlobProto& mean) {
  const int size = mean.height() * mean.width();
  LOG(INFO) << "Number of channels: " << mean.channels();
  for (int c = 0; c < mean.channels(); ++c) {
    const auto begin = mean.data().begin() + c * size;
    LOG(INFO) << "mean_value channel [" << c
              << "]: " << std::accumulate(begin, begin + size, 0.0) / size;
  }
}

int Run(int argc, char** argv) {
  RequireUsage(argc == 2 || argc == 3, kUsage);
  const std::string source = argv[1];
  const std::unique_ptr<db::DB> database = OpenDatabase(source, FLAGS_backend);
  const std::unique_ptr<db::Cursor> cursor(database->NewCursor());
  Require(cursor->valid(), "database '", source, "' is empty");
  ImageSum sum;
  Progress progress("images");
  for (; cursor->valid(); cursor->Next()) {
    try {
      Datum datum;
      Require(datum.ParseFromString(cursor->value()), "it is not a Datum");
      sum.Add(&datum);
    } catch (const Error& error) {
      Fail("record '", cursor->key(), "' of database '", source,
           "': ", error.what());
    }
    progress.Add();
  }
  progress.Finish();
  const BlobProto mean = sum.Mean();
  if (argc == 3) {
    LOG(INFO) << "Write to " << argv[2];
    WriteProtoToBinaryFile(mean, argv[2]);
  }
  LogChannelMeans(mean);
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("compute_image_mean", argc, argv, caffe::kUsage,
                        caffe::Run);
}
