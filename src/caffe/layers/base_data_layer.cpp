#include "caffe/layers/base_data_layer.hpp"

#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "caffe/util/rng.hpp"
#include "cpu/parallel.hpp"

namespace caffe {

namespace {

// More would only fill the memory.
constexpr uint32_t kMaxPrefetch = 1024;

}  // namespace

template <typename Dtype>
BaseDataLayer<Dtype>::BaseDataLayer(const LayerParameter& param)
    : Layer<Dtype>(param), transform_param_(param.transform_param()) {}

template <typename Dtype>
void BaseDataLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  output_labels_ = top.size() > 1;
  data_transformer_ = boost::make_shared<DataTransformer<Dtype>>(
      transform_param_, this->phase_);
  data_transformer_->InitRand();
  DataLayerSetUp(bottom, top);
}

template <typename Dtype>
BasePrefetchingDataLayer<Dtype>::BasePrefetchingDataLayer(
    const LayerParameter& param)
    : BaseDataLayer<Dtype>(param) {}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::LayerSetUp(
    const vector<Blob<Dtype>*>& bottom, const vector<Blob<Dtype>*>& top) {
  BaseDataLayer<Dtype>::LayerSetUp(bottom, top);
  const uint32_t batches = this->layer_param_.data_param().prefetch();
  Require(batches > 0 && batches <= kMaxPrefetch, "data_param's prefetch is ",
          batches, "; it must be 1 to ", kMaxPrefetch);
  for (uint32_t i = 0; i < batches; ++i) {
    prefetch_.push_back(boost::make_shared<Batch<Dtype>>());
    prefetch_free_.push(prefetch_.back().get());
  }
  state_ = CurrentState();
  StartInternalThread();
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::InternalThreadEntry() {
  while (!must_stop()) {
    Batch<Dtype>* const batch = prefetch_free_.pop();
    try {
      load_batch(batch);
      batch->state_ = CurrentState();
    } catch (...) {
      batch->error_ = std::current_exception();
    }
    const bool failed = batch->error_ != nullptr;
    prefetch_full_.push(batch);
    if (failed) return;
  }
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::Forward_cpu(
    const vector<Blob<Dtype>*>& /*bottom*/, const vector<Blob<Dtype>*>& top) {
  Require(is_started(), "cannot go on after its state could not be restored");
  if (prefetch_current_ != nullptr) {
    // It is no longer theirs to write to.
    for (Blob<Dtype>* const blob : top) blob->data()->Forget();
    prefetch_free_.push(std::exchange(prefetch_current_, nullptr));
  }
  Batch<Dtype>* const batch = prefetch_full_.pop("Waiting for data");
  if (batch->error_) {
    // There is nothing else to come, whoever asks again.
    prefetch_full_.push(batch);
    std::rethrow_exception(batch->error_);
  }
  state_ = batch->state_;
  top[0]->ReshapeLike(batch->data_);
  if (this->output_labels_) top[1]->ReshapeLike(batch->label_);
  if (batch->windows_.empty()) {
    prefetch_current_ = batch;
    top[0]->set_cpu_data(batch->data_.mutable_cpu_data());
    if (!this->output_labels_) return;
    top[1]->set_cpu_data(batch->label_.mutable_cpu_data());
    return;
  }
  FinishImages(*batch, top[0]->mutable_cpu_data());
  if (this->output_labels_) top[1]->CopyFrom(batch->label_);
  prefetch_free_.push(batch);
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::FinishImages(const Batch<Dtype>& batch,
                                                   Dtype* values) const {
  const auto images = static_cast<int64_t>(batch.windows_.size());
  const int64_t count = batch.data_.count(1);
  const auto* const bytes =
      static_cast<const uint8_t*>(batch.bytes_->cpu_data());
  const DataTransformer<Dtype>& transformer = *this->data_transformer_;
  const int channels = batch.data_.channels();
  cpu::ParallelFor(
      images, cpu::kElementwiseGrain / count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          transformer.Finish(channels, bytes + i * count, batch.windows_[i],
                             values + i * count);
        }
      });
}

template <typename Dtype>
string BasePrefetchingDataLayer<Dtype>::CurrentState() const {
  DataLayerState state;
  state.set_transformer(this->data_transformer_->SaveState());
  state.set_reader(SaveReader());
  return state.SerializeAsString();
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::StopLoading() {
  StopInternalThread();
  Batch<Dtype>* batch = nullptr;
  while (prefetch_free_.try_pop(&batch) || prefetch_full_.try_pop(&batch)) {
  }
  for (const auto& each : prefetch_) {
    each->error_ = nullptr;
    if (each.get() != prefetch_current_) prefetch_free_.push(each.get());
  }
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::SetBatchSize(
    int batch_size, const vector<Blob<Dtype>*>& top) {
  Require(batch_size_ > 0 && batch_size > 0, "cannot change its batch size");
  if (batch_size != batch_size_) {
    StopLoading();
    batch_size_ = batch_size;
    const rng_t generator = *caffe_rng();
    GoTo(state_);
    StartInternalThread();
    *caffe_rng() = generator;
  }
  this->ReshapeTops(batch_size, top);
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::RestoreState(const string& state) {
  StopLoading();
  // A thread takes its seed from the caller's generator, which a resume must
  // not move.
  const rng_t generator = *caffe_rng();
  try {
    GoTo(state);
  } catch (const Error&) {
    // Of another data set: whoever wants to can go on as before.
    GoTo(state_);
    StartInternalThread();
    *caffe_rng() = generator;
    throw;
  }
  state_ = state;
  StartInternalThread();
  *caffe_rng() = generator;
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::GoTo(const string& state) {
  DataLayerState parsed;
  Require(parsed.ParseFromString(state),
          "the saved state of its data is damaged");
  this->data_transformer_->RestoreState(parsed.transformer());
  RestoreReader(parsed.reader());
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::ShapeTops(
    const vector<int>& image_shape, int batch_size,
    const vector<Blob<Dtype>*>& top) {
  batch_size_ = batch_size;
  vector<int> shape = image_shape;
  shape[0] = batch_size;
  top[0]->Reshape(shape);
  LOG_IF(INFO, Caffe::root_solver())
      << "output data size: " << top[0]->num() << "," << top[0]->channels()
      << "," << top[0]->height() << "," << top[0]->width();
  if (this->output_labels_) top[1]->Reshape({batch_size});
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::ShapeBatch(const vector<int>& image_shape,
                                                 int batch_size,
                                                 Batch<Dtype>* batch) {
  transformed_data_.Reshape(image_shape);
  vector<int> shape = image_shape;
  shape[0] = batch_size;
  // Batches became smaller to take less memory.
  std::optional<TightReshape> tight;
  if (batch->data_.num_axes() > 0 && batch->data_.shape(0) > batch_size) {
    tight.emplace();
  }
  batch->data_.Reshape(shape);
  if (batch->data_.data()->label().name.empty()) {
    batch->data_.SetLabel(memory::Kind::kData, this->layer_param_.name());
  }
  if (this->output_labels_) batch->label_.Reshape({batch_size});
  const auto bytes = static_cast<size_t>(batch->data_.count());
  if (batch->bytes_ == nullptr || batch->bytes_->size() != bytes) {
    batch->bytes_ = boost::make_shared<SyncedMemory>(bytes);
    batch->bytes_->set_label({memory::Kind::kData, this->layer_param_.name()});
  }
  batch->windows_.clear();
}

template <typename Dtype>
template <typename Image>
void BasePrefetchingDataLayer<Dtype>::LoadImage(const Image& image, int item,
                                                Batch<Dtype>* batch) {
  const bool can_wait = this->data_transformer_->IsOfBytes(image) &&
                        static_cast<int>(batch->windows_.size()) == item;
  if (can_wait) {
    auto* const bytes =
        static_cast<uint8_t*>(batch->bytes_->mutable_cpu_data());
    batch->windows_.push_back(this->data_transformer_->Cut(
        image, batch->data_, bytes + batch->data_.offset(item)));
    return;
  }
  // One of a batch that cannot wait, and none does.
  if (!batch->windows_.empty()) {
    FinishImages(*batch, batch->data_.mutable_cpu_data());
    batch->windows_.clear();
  }
  this->data_transformer_->Transform(image, ImageOf(batch, item));
}

template <typename Dtype>
Blob<Dtype>* BasePrefetchingDataLayer<Dtype>::ImageOf(Batch<Dtype>* batch,
                                                      int item) {
  transformed_data_.set_cpu_data(batch->data_.mutable_cpu_data() +
                                 batch->data_.offset(item));
  return &transformed_data_;
}

INSTANTIATE_CLASS(BaseDataLayer);
INSTANTIATE_CLASS(BasePrefetchingDataLayer);
template void BasePrefetchingDataLayer<float>::LoadImage(const Datum&, int,
                                                         Batch<float>*);
template void BasePrefetchingDataLayer<double>::LoadImage(const Datum&, int,
                                                          Batch<double>*);
template void BasePrefetchingDataLayer<float>::LoadImage(const cv::Mat&, int,
                                                         Batch<float>*);
template void BasePrefetchingDataLayer<double>::LoadImage(const cv::Mat&, int,
                                                          Batch<double>*);

}  // namespace caffe
