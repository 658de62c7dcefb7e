#include <glog/logging.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/format.hpp"
#include "database_writer.hpp"
#include "tool.hpp"

namespace caffe {

namespace {

constexpr char kUsage[] =
    "usage: convert_cifar_data INPUT_FOLDER OUTPUT_FOLDER DB_TYPE\n"
    "Writes CIFAR-10 (data_batch_1.bin to data_batch_5.bin, test_batch.bin) "
    "to\n"
    "the new databases cifar10_train_DB_TYPE and cifar10_test_DB_TYPE for "
    "Data\n"
    "layers. DB_TYPE is lmdb or leveldb.\n"
    "\n"
    "Example:\n"
    "  convert_cifar_data cifar-10-batches-bin examples/cifar10 lmdb\n";

constexpr int kSize = 32;
constexpr int kImageBytes = 3 * kSize * kSize;
constexpr int kRecordBytes = 1 + kImageBytes;  // The label comes first.
constexpr int kBatchSize = 10000;
constexpr int kTrainBatches = 5;

// How many records there are in the file.
int RecordsOf(const std::string& filename) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(filename, error);
  Require(!error, "cannot read ", filename, ": ", error.message());
  const uintmax_t records = bytes / kRecordBytes;
  Require(records > 0 && records <= kBatchSize && bytes % kRecordBytes == 0,
          filename, " has ", bytes, " bytes, which is not 1 to ", kBatchSize,
          " records of ", kRecordBytes, " bytes; is it cut short?");
  LOG_IF(WARNING, records < kBatchSize)
      << filename << " has only " << records << " images where CIFAR-10 has "
      << kBatchSize;
  return static_cast<int>(records);
}

// Puts a file's images under keys that start from first_key.
void ConvertBatch(const std::string& filename, int first_key,
                  Progress* progress, DatabaseWriter* database) {
  const int records = RecordsOf(filename);
  std::ifstream file(filename, std::ios::binary);
  Datum datum;
  datum.set_channels(3);
  datum.set_height(kSize);
  datum.set_width(kSize);
  datum.mutable_data()->resize(kImageBytes);
  for (int i = 0; i < records; ++i) {
    char label = 0;
    file.read(&label, 1);
    file.read(datum.mutable_data()->data(), kImageBytes);
    Require(!file.fail(), "cannot read ", filename);
    datum.set_label(static_cast<uint8_t>(label));
    database->Put(format_int(first_key + i, 5), datum);
    progress->Add();
  }
}

int Run(int argc, char** argv) {
  RequireUsage(argc == 4, kUsage);
  const std::string input = argv[1];
  const std::string output = argv[2];
  const std::string backend = argv[3];
  DatabaseWriter train(backend, output + "/cifar10_train_" + backend);
  DatabaseWriter test(backend, output + "/cifar10_test_" + backend);
  Progress progress("images", (kTrainBatches + 1) * kBatchSize);
  for (int i = 0; i < kTrainBatches; ++i) {
    LOG(INFO) << "Training Batch " << i + 1;
    ConvertBatch(Concat(input, "/data_batch_", i + 1, ".bin"), i * kBatchSize,
                 &progress, &train);
  }
  LOG(INFO) << "Writing Testing data";
  ConvertBatch(input + "/test_batch.bin", 0, &progress, &test);
  progress.Finish();
  train.Finish();
  test.Finish();
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("convert_cifar_data", argc, argv, caffe::kUsage,
                        caffe::Run);
}
