#include "caffe/layers/memory_data_layer.hpp"

#include <opencv2/core.hpp>

#include "data/reading.hpp"

namespace caffe {

template <typename Dtype>
void MemoryDataLayer<Dtype>::DataLayerSetUp(
    const vector<Blob<Dtype>*>& /*bottom*/, const vector<Blob<Dtype>*>& top) {
  const MemoryDataParameter& param = this->layer_param_.memory_data_param();
  batch_size_ = BatchSize("memory_data_param", param.batch_size());
  for (const uint32_t extent :
       {param.channels(), param.height(), param.width()}) {
    Require(extent > 0 && extent <= INT_MAX,
            "memory_data_param needs channels, height and width of at least "
            "1, not ",
            extent);
  }
  channels_ = static_cast<int>(param.channels());
  height_ = static_cast<int>(param.height());
  width_ = static_cast<int>(param.width());
  // Throws when there are more values than a blob can have.
  top[0]->Reshape(batch_size_, channels_, height_, width_);
  top[1]->Reshape({batch_size_});
  size_ = channels_ * height_ * width_;
}

template <typename Dtype>
template <typename Image>
void MemoryDataLayer<Dtype>::AddImages(const vector<Image>& images) {
  Require(!has_new_data_,
          "cannot take more images before those added last are used up");
  const int count = static_cast<int>(images.size());
  CheckCount(count);
  added_data_.Reshape(count, channels_, height_, width_);
  added_label_.Reshape({count});
  this->data_transformer_->Transform(images, &added_data_);
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::AddDatumVector(const vector<Datum>& datum_vector) {
  AddImages(datum_vector);
  Dtype* const labels = added_label_.mutable_cpu_data();
  for (size_t i = 0; i < datum_vector.size(); ++i) {
    labels[i] = datum_vector[i].label();
  }
  UseAdded();
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::AddMatVector(const vector<cv::Mat>& mat_vector,
                                          const vector<int>& labels) {
  Require(mat_vector.size() == labels.size(), "cannot take ", mat_vector.size(),
          " images with ", labels.size(), " labels");
  AddImages(mat_vector);
  std::copy(labels.begin(), labels.end(), added_label_.mutable_cpu_data());
  UseAdded();
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::UseAdded() {
  Use(added_data_.mutable_cpu_data(), added_label_.mutable_cpu_data(),
      added_data_.num());
  has_new_data_ = true;
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::Reset(Dtype* data, Dtype* label, int n) {
  CHECK(data);
  CHECK(label);
  CheckCount(n);
  LOG_IF(WARNING, this->layer_param_.has_transform_param())
      << this->type() << " does not transform array data on Reset()";
  Use(data, label, n);
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::CheckCount(int n) const {
  Require(n > 0 && n % batch_size_ == 0, "cannot take ", n,
          " images: their number must be a multiple of the batch size, ",
          batch_size_);
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::Use(Dtype* data, Dtype* label, int n) {
  data_ = data;
  labels_ = label;
  n_ = n;
  pos_ = 0;
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::set_batch_size(int new_size) {
  Require(!has_new_data_,
          "cannot change the batch size before the images added last are "
          "used up");
  Require(new_size > 0, "cannot have a batch size of ", new_size);
  batch_size_ = new_size;
  pos_ = 0;
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                                         const vector<Blob<Dtype>*>& top) {
  Require(data_ != nullptr,
          "has no data; call Reset, AddDatumVector or AddMatVector first");
  Require(n_ % batch_size_ == 0, "has ", n_,
          " images, which is not a multiple of the batch size, ", batch_size_);
  top[0]->Reshape(batch_size_, channels_, height_, width_);
  top[1]->Reshape({batch_size_});
  top[0]->set_cpu_data(data_ + pos_ * size_);
  top[1]->set_cpu_data(labels_ + pos_);
  pos_ = (pos_ + batch_size_) % n_;
  if (pos_ == 0) has_new_data_ = false;
}

template <typename Dtype>
string MemoryDataLayer<Dtype>::SaveState() const {
  MemoryPosition position;
  position.set_index(pos_);
  DataLayerState state;
  state.set_transformer(this->data_transformer_->SaveState());
  state.set_reader(position.SerializeAsString());
  return state.SerializeAsString();
}

template <typename Dtype>
void MemoryDataLayer<Dtype>::RestoreState(const string& state) {
  const auto saved = ParsePosition<DataLayerState>(state);
  const auto position = ParsePosition<MemoryPosition>(saved.reader());
  const auto images = static_cast<uint64_t>(n_);
  Require(position.index() < std::max<uint64_t>(images, 1) &&
              position.index() % batch_size_ == 0,
          "the saved position is image ", position.index(),
          ", where no batch of ", batch_size_, " among ", images,
          " images starts");
  this->data_transformer_->RestoreState(saved.transformer());
  pos_ = position.index();
}

INSTANTIATE_CLASS(MemoryDataLayer);
REGISTER_LAYER_CLASS(MemoryData);

}  // namespace caffe
