#include "caffe/layers/hdf5_data_layer.hpp"

#include <fstream>

#include "data/reading.hpp"
#include "data/visit_order.hpp"
#include "util/hdf5_file.hpp"

namespace caffe {

namespace {

// The shape of a data set but for the number of its rows.
template <typename Dtype>
vector<int> RowShape(const Blob<Dtype>& blob) {
  return vector<int>(blob.shape().begin() + 1, blob.shape().end());
}

}  // namespace

template <typename Dtype>
HDF5DataLayer<Dtype>::HDF5DataLayer(const LayerParameter& param)
    : Layer<Dtype>(param) {}

template <typename Dtype>
HDF5DataLayer<Dtype>::~HDF5DataLayer() = default;

template <typename Dtype>
void HDF5DataLayer<Dtype>::ReadFileNames() {
  const string& source = this->layer_param_.hdf5_data_param().source();
  LOG(INFO) << "Loading list of HDF5 filenames from: " << source;
  std::ifstream list(source);
  Require(list.good(), "cannot read ", source);
  hdf_filenames_.clear();
  for (string name; list >> name;) hdf_filenames_.push_back(name);
  Require(!hdf_filenames_.empty(), source, " lists no HDF5 files");
  LOG(INFO) << "Number of HDF5 files: " << hdf_filenames_.size();
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::LoadHDF5FileData(const char* filename) {
  const Hdf5Group file = OpenHdf5(filename);
  vector<shared_ptr<Blob<Dtype>>> blobs;
  for (const string& name : this->layer_param_.top()) {
    blobs.push_back(boost::make_shared<Blob<Dtype>>());
    hdf5_load_nd_dataset(file.id(), name.c_str(), 1, kMaxBlobAxes,
                         blobs.back().get(), /*reshape=*/true);
    const size_t i = blobs.size() - 1;
    Require(blobs[i]->shape(0) == blobs[0]->shape(0), filename, ": '", name,
            "' has ", blobs[i]->shape(0), " rows, and '",
            this->layer_param_.top(0), "' has ", blobs[0]->shape(0));
    Require(
        hdf_blobs_.empty() || RowShape(*blobs[i]) == RowShape(*hdf_blobs_[i]),
        filename, ": '", name, "' of shape ", blobs[i]->shape_string(),
        " has other rows than in the file before, where its shape is ",
        hdf_blobs_.empty() ? "" : hdf_blobs_[i]->shape_string());
  }
  Require(blobs[0]->shape(0) > 0, filename, " has no rows");
  hdf_blobs_ = std::move(blobs);
  DLOG(INFO) << "Successfully loaded " << hdf_blobs_[0]->shape(0) << " rows";
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::LoadCurrentFile(uint32_t row_seed) {
  LoadHDF5FileData(hdf_filenames_[files_->current()].c_str());
  rows_ = std::make_unique<VisitOrder>(
      hdf_blobs_[0]->shape(0), this->layer_param_.hdf5_data_param().shuffle(),
      row_seed);
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                      const vector<Blob<Dtype>*>& top) {
  const HDF5DataParameter& param = this->layer_param_.hdf5_data_param();
  Require(!this->layer_param_.has_transform_param(),
          "does not transform data; remove its transform_param");
  batch_size_ = BatchSize("hdf5_data_param", param.batch_size());
  Require(this->layer_param_.top_size() == static_cast<int>(top.size()),
          "needs a name for every top: that of its data set");
  ReadFileNames();
  const auto seed = [&] { return param.shuffle() ? caffe_rng_rand() : 0; };
  files_ = std::make_unique<VisitOrder>(hdf_filenames_.size(), param.shuffle(),
                                        seed());
  LoadCurrentFile(seed());
  for (size_t i = 0; i < top.size(); ++i) {
    vector<int> shape = hdf_blobs_[i]->shape();
    shape[0] = batch_size_;
    top[i]->Reshape(shape);
  }
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::SetBatchSize(int batch_size,
                                        const vector<Blob<Dtype>*>& top) {
  Require(batch_size > 0, "cannot have a batch size of ", batch_size);
  batch_size_ = batch_size;
  this->ReshapeTops(batch_size, top);
}

template <typename Dtype>
bool HDF5DataLayer<Dtype>::Skip() {
  return IsForAnotherSolver(offset_, this->phase_);
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::Next() {
  ++offset_;
  if (!rows_->Next() || hdf_filenames_.size() == 1) return;
  files_->Next();
  LoadCurrentFile(rows_->seed());
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                                       const vector<Blob<Dtype>*>& top) {
  for (int item = 0; item < batch_size_; ++item) {
    while (Skip()) Next();
    for (size_t i = 0; i < top.size(); ++i) {
      const int size = top[i]->count(1);
      caffe_copy(size, hdf_blobs_[i]->cpu_data() + rows_->current() * size,
                 top[i]->mutable_cpu_data() + size_t(item) * size);
    }
    Next();
  }
}

template <typename Dtype>
string HDF5DataLayer<Dtype>::SaveState() const {
  HDF5Position position;
  *position.mutable_file() = files_->Save();
  *position.mutable_row() = rows_->Save();
  position.set_passed(offset_);
  return position.SerializeAsString();
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::RestoreState(const string& state) {
  const string before = SaveState();
  try {
    GoTo(state);
  } catch (const Error&) {
    // Of another data set: whoever wants to can go on as before.
    GoTo(before);
    throw;
  }
}

template <typename Dtype>
void HDF5DataLayer<Dtype>::GoTo(const string& state) {
  const auto position = ParsePosition<HDF5Position>(state);
  files_->Restore(position.file());
  LoadCurrentFile(position.row().seed());
  rows_->Restore(position.row());
  offset_ = position.passed();
}

INSTANTIATE_CLASS(HDF5DataLayer);
REGISTER_LAYER_CLASS(HDF5Data);

}  // namespace caffe
