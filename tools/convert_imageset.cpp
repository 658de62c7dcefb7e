#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "caffe/util/io.hpp"
#include "caffe/util/rng.hpp"
#include "data/image_list.hpp"
#include "database_writer.hpp"
#include "tool.hpp"

DEFINE_bool(gray, false, "Treat the images as grayscale ones");
DEFINE_bool(shuffle, false, "Put the images and their labels in random order");
DEFINE_string(backend, "lmdb", "The backend {lmdb, leveldb} of the database");
DEFINE_int32(resize_width, 0, "Width that images are resized to");
DEFINE_int32(resize_height, 0, "Height that images are resized to");
DEFINE_bool(check_size, false, "Check that all the datums have the same size");
DEFINE_bool(encoded, false, "Save the encoded image in the datum");
DEFINE_string(encode_type, "",
              "What to encode the images as ('png', 'jpg', ...)");

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: convert_imageset [FLAGS] ROOTFOLDER/ LISTFILE DB_NAME\n"
    "Writes the images that LISTFILE names, one path below ROOTFOLDER and one\n"
    "integer label in every line, to a new database for Data layers.\n"
    "\n"
    "Example:\n"
    "  convert_imageset --resize_height=256 --resize_width=256 --shuffle \\\n"
    "    imagenet/train/ train.txt ilsvrc12_train_lmdb\n";

// What to encode an image as; nothing for raw pixels.
std::string EncodingFor(const std::string& path) {
  if (!FLAGS_encode_type.empty() || !FLAGS_encoded) return FLAGS_encode_type;
  // As the file itself is, which its name tells.
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) {
    LOG(WARNING) << "Failed to guess the encoding of '" << path << "'";
    return "";
  }
  std::string encoding = path.substr(dot + 1);
  std::transform(encoding.begin(), encoding.end(), encoding.begin(), ::tolower);
  return encoding;
}

// Refuses a datum of another size than the ones before.
class SizeCheck {
 public:
  void Check(const std::string& path, const Datum& datum) {
    if (!FLAGS_check_size) return;
    if (size_ == 0) size_ = datum.data().size();
    Require(datum.data().size() == size_, path, " takes ", datum.data().size(),
            " bytes where the images before it take ", size_);
  }

 private:
  size_t size_ = 0;
};

void Convert(const std::string& root,
             const std::vector<std::pair<std::string, int>>& images,
             DatabaseWriter* database) {
  const int height = std::max(0, FLAGS_resize_height);
  const int width = std::max(0, FLAGS_resize_width);
  SizeCheck size;
  Progress progress("images", static_cast<int64_t>(images.size()));
  for (size_t i = 0; i < images.size(); ++i) {
    const auto& [path, label] = images[i];
    Datum datum;
    const bool read = ReadImageToDatum(root + path, label, height, width,
                                       !FLAGS_gray, EncodingFor(path), &datum);
    progress.Add();
    if (!read) continue;  // The reason is in the log.
    size.Check(root + path, datum);
    database->Put(format_int(static_cast<int>(i), 8) + "_" + path, datum);
  }
  progress.Finish();
}

int Run(int argc, char** argv) {
  RequireUsage(argc == 4, kUsage);
  auto images = ReadImageList(argv[2]);
  if (FLAGS_shuffle) {
    LOG(INFO) << "Shuffling data";
    shuffle(images.begin(), images.end());
  }
  LOG(INFO) << "A total of " << images.size() << " images.";
  LOG_IF(INFO, !FLAGS_encode_type.empty() && !FLAGS_encoded)
      << "encode_type specified, assuming encoded=true.";
  DatabaseWriter database(FLAGS_backend, argv[3]);
  Convert(argv[1], images, &database);
  const int64_t skipped =
      static_cast<int64_t>(images.size()) - database.count();
  Require(database.count() > 0, "none of the ", images.size(), " images of ",
          argv[2], " could be read, so there is no ", argv[3]);
  database.Finish();
  LOG_IF(WARNING, skipped > 0)
      << "Skipped " << skipped << " of " << images.size()
      << " images, which could not be read (see above)";
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("convert_imageset", argc, argv, caffe::kUsage,
                        caffe::Run);
}
