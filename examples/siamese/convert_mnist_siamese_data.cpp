#include <glog/logging.h>

#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "caffe/util/math_functions.hpp"
#include "database_writer.hpp"
#include "mnist_files.hpp"
#include "tool.hpp"

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: convert_mnist_siamese_data IMAGE_FILE LABEL_FILE DB_NAME\n"
    "Writes as many random pairs as there are images, from files in the idx\n"
    "format of MNIST, to a new LevelDB database: the two images are the two\n"
    "channels of a datum, whose label is 1 when they show the same digit and "
    "0\n"
    "otherwise.\n"
    "\n"
    "Example:\n"
    "  convert_mnist_siamese_data train-images-idx3-ubyte \\\n"
    "    train-labels-idx1-ubyte mnist_siamese_train_leveldb\n";

struct Digit {
  std::string pixels;
  int label;
};

std::vector<Digit> ReadDigits(MnistFiles* files) {
  std::vector<Digit> digits;
  for (int i = 0; i < files->count(); ++i) {
    Digit digit = {std::string(size_t(files->rows()) * files->columns(), 0), 0};
    digit.label = files->ReadNext(digit.pixels.data());
    digits.push_back(std::move(digit));
  }
  return digits;
}

int Run(int argc, char** argv) {
  RequireUsage(argc == 4, kUsage);
  MnistFiles files(argv[1], argv[2]);
  const std::vector<Digit> digits = ReadDigits(&files);
  const auto draw = [&digits]() -> const Digit& {
    return digits[caffe_rng_rand() % digits.size()];
  };
  LOG(INFO) << "A total of " << digits.size() << " items.";
  LOG(INFO) << "Rows: " << files.rows() << " Cols: " << files.columns();

  DatabaseWriter database("leveldb", argv[3]);
  Datum datum;
  datum.set_channels(2);
  datum.set_height(files.rows());
  datum.set_width(files.columns());
  Progress progress("pairs", files.count());
  for (int i = 0; i < files.count(); ++i) {
    const Digit& first = draw();
    const Digit& second = draw();
    datum.set_data(first.pixels + second.pixels);
    datum.set_label(first.label == second.label ? 1 : 0);
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
  return caffe::RunTool("convert_mnist_siamese_data", argc, argv, caffe::kUsage,
                        caffe::Run);
}
