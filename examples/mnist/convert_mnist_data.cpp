#include <gflags/gflags.h>
#include <glog/logging.h>

#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "database_writer.hpp"
#include "mnist_files.hpp"
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

int Run(int argc, char** argv) {
  RequireUsage(argc == 4, kUsage);
  MnistFiles files(argv[1], argv[2]);
  Datum datum;
  datum.set_channels(1);
  datum.set_height(files.rows());
  datum.set_width(files.columns());
  const int items = files.count();
  LOG(INFO) << "A total of " << items << " items.";
  LOG(INFO) << "Rows: " << datum.height() << " Cols: " << datum.width();

  DatabaseWriter database(FLAGS_backend, argv[3]);
  datum.mutable_data()->resize(size_t(datum.height()) * datum.width());
  Progress progress("images", items);
  for (int i = 0; i < items; ++i) {
    datum.set_label(files.ReadNext(datum.mutable_data()->data()));
    database.Put(format_int(i, 8), datum);
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
