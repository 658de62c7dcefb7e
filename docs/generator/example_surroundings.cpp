#include "example_surroundings.hpp"

#include <fstream>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "caffe/layers/memory_data_layer.hpp"
#include "caffe/layers/python_layer.hpp"
#include "caffe/util/db.hpp"
#include "caffe/util/hdf5.hpp"
#include "caffe/util/io.hpp"

namespace caffe {

namespace {

// Of the images in files, which are larger than what is cropped.
constexpr int kChannels = 3;
constexpr int kSide = 256;

void WriteText(const string& file, const string& text) {
  std::ofstream(file) << text;
}

void WriteDatabase(const string& folder) {
  Datum datum;
  datum.set_channels(kChannels);
  datum.set_height(kSide);
  datum.set_width(kSide);
  datum.set_data(string(kChannels * kSide * kSide, '\1'));
  datum.set_label(1);
  const std::unique_ptr<db::DB> database(db::GetDB("lmdb"));
  database->Open(folder, db::NEW);
  const std::unique_ptr<db::Transaction> transaction(
      database->NewTransaction());
  transaction->Put("0", datum.SerializeAsString());
  transaction->Commit();
}

void WriteMean(const string& file) {
  const Blob<float> mean(1, kChannels, kSide, kSide);
  BlobProto proto;
  mean.ToProto(&proto);
  WriteProtoToBinaryFile(proto, file);
}

// One file of four rows.
void WriteHdf5(const string& list) {
  const hid_t file =
      H5Fcreate("train.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  Require(file >= 0, "cannot write train.h5");
  hdf5_save_nd_dataset(file, "hdf5_data", Blob<float>(4, 3, 32, 32));
  hdf5_save_nd_dataset(file, "hdf5_label", Blob<float>(vector<int>{4}));
  H5Fclose(file);
  WriteText(list, "train.h5\n");
}

// Does what the class Double of docs/python.md does with shapes; generators of
// pages need no Python.
class DoubleLayer : public PythonLayer<float> {
 public:
  using PythonLayer<float>::PythonLayer;
  void LayerSetUp(const vector<Blob<float>*>& /*bottom*/,
                  const vector<Blob<float>*>& /*top*/) override {}
  void Reshape(const vector<Blob<float>*>& bottom,
               const vector<Blob<float>*>& top) override {
    top[0]->ReshapeLike(*bottom[0]);
  }

 protected:
  void Forward_cpu(const vector<Blob<float>*>& /*bottom*/,
                   const vector<Blob<float>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<float>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<float>*>& /*bottom*/) override {}
};

shared_ptr<Layer<float>> MakeDouble(const LayerParameter& param) {
  return boost::make_shared<DoubleLayer>(param);
}

}  // namespace

ExampleSurroundings::ExampleSurroundings()
    : folder_before_(std::filesystem::current_path()) {
  MakeTempDir(&folder_);
  std::filesystem::current_path(folder_);
  WriteDatabase("train_lmdb");
  WriteMean("mean.binaryproto");
  std::filesystem::create_directory("images");
  cv::imwrite("images/0.png", cv::Mat::zeros(kSide, kSide, CV_8UC3));
  WriteText("images.txt", "0.png 1\n");
  // One window of an object and one of background.
  WriteText("windows.txt",
            Concat("# 0\nimages/0.png\n", kChannels, "\n", kSide, "\n", kSide,
                   "\n2\n1 0.9 10 20 80 90\n1 0.1 100 100 200 200\n"));
  WriteHdf5("train_h5_list.txt");
  LayerRegistry<float>::AddCreator("Python", MakeDouble);
}

ExampleSurroundings::~ExampleSurroundings() {
  LayerRegistry<float>::Registry().erase("Python");
  std::error_code ignored;
  std::filesystem::current_path(folder_before_, ignored);
  std::filesystem::remove_all(folder_, ignored);
}

void ExampleSurroundings::Feed(Net<float>* net) {
  // Good as a label, an index and a choice, too.
  for (Blob<float>* const input : net->input_blobs()) {
    caffe_set(input->count(), 1.0f, input->mutable_cpu_data());
  }
  for (const auto& layer : net->layers()) {
    auto* const memory = dynamic_cast<MemoryDataLayer<float>*>(layer.get());
    if (memory == nullptr) continue;
    const int images = memory->batch_size();
    images_.resize(images * memory->channels() * memory->height() *
                   memory->width());
    labels_.resize(images);
    memory->Reset(images_.data(), labels_.data(), images);
  }
}

}  // namespace caffe
