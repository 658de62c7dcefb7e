#include <gflags/gflags.h>
#include <glog/logging.h>

#include <array>
#include <fstream>
#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "database_writer.hpp"
#include "tool.hpp"

DEFINE_string(backend, "lmdb", "The backend {lmdb, leveldb} of the database");

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: convert_mnist_data [FLAGS] IMAGE_FILE LABEL_FILE DB_NAME\n"
    "Writes images and labels in the idx format of MNIST and Fashion-MNIST\n"
    "(not compressed) to a new database for Data layers.\n"
    "\n"
    "Example:\n"
    "  convert_mnist_data train-images-idx3-ubyte train-labels-idx1-ubyte \\\n"
    "    mnist_train_lmdb\n";

constexpr uint32_t kImageMagic = 2051;
constexpr uint32_t kLabelMagic = 2049;
// Far more than there is in any such file.
constexpr uint32_t kMaxExtent = 1 << 16;

// A file of the idx format: big-endian numbers, then bytes.
class IdxFile {
 public:
  explicit IdxFile(const std::string& name)
      : name_(name), file_(name, std::ios::binary) {
    Require(file_.good(), "cannot read ", name_);
  }

  uint32_t ReadNumber() {
    std::array<char, 4> bytes = {};
    Read(bytes.data(), bytes.size());
    uint32_t number = 0;
    for (const char byte : bytes) {
      number = number << 8 | static_cast<uint8_t>(byte);
    }
    return number;
  }

  void ReadMagic(uint32_t magic, const char* what) {
    const uint32_t found = ReadNumber();
    Require(found == magic, name_, " is not an idx file of ", what,
            ": it starts with ", found, ", not with ", magic,
            " (is it compressed?)");
  }

  uint32_t ReadExtent() {
    const uint32_t extent = ReadNumber();
    Require(extent > 0 && extent <= kMaxExtent, name_, " has images of extent ",
            extent, ", which is out of range");
    return extent;
  }

  void Read(char* bytes, size_t count) {
    file_.read(bytes, static_cast<std::streamsize>(count));
    Require(!file_.fail(), name_, " is cut short");
  }

 private:
  const std::string name_;
  std::ifstream file_;
};

int Run(int argc, char** argv) {
  RequireUsage(argc == 4, kUsage);
  IdxFile images(argv[1]);
  IdxFile labels(argv[2]);
  images.ReadMagic(kImageMagic, "images");
  labels.ReadMagic(kLabelMagic, "labels");
  const uint32_t items = images.ReadNumber();
  const uint32_t label_count = labels.ReadNumber();
  Require(items == label_count, argv[1], " has ", items, " images, and ",
          argv[2], " has ", label_count, " labels");
  Require(items > 0 && items <= INT_MAX, argv[1], " has ", items, " images");
  Datum datum;
  datum.set_channels(1);
  datum.set_height(static_cast<int>(images.ReadExtent()));
  datum.set_width(static_cast<int>(images.ReadExtent()));
  LOG(INFO) << "A total of " << items << " items.";
  LOG(INFO) << "Rows: " << datum.height() << " Cols: " << datum.width();

  DatabaseWriter database(FLAGS_backend, argv[3]);
  datum.mutable_data()->resize(size_t(datum.height()) * datum.width());
  Progress progress("images", items);
  for (uint32_t i = 0; i < items; ++i) {
    images.Read(datum.mutable_data()->data(), datum.data().size());
    char label = 0;
    labels.Read(&label, 1);
    datum.set_label(static_cast<uint8_t>(label));
    database.Put(format_int(static_cast<int>(i), 8), datum);
    progress.Add();
  }
  progress.Finish();
  database.Finish();
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("convert_mnist_data", argc, argv, caffe::kUsage,
                        caffe::Run);
}
