#include "caffe/layers/base_data_layer.hpp"

#include "caffe/util/rng.hpp"

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
  data_transformer_ =
      std::make_shared<DataTransformer<Dtype>>(transform_param_, this->phase_);
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
    prefetch_.push_back(std::make_shared<Batch<Dtype>>());
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
    prefetch_free_.push(prefetch_current_);
    prefetch_current_ = nullptr;
  }
  Batch<Dtype>* const batch = prefetch_full_.pop("Waiting for data");
  if (batch->error_) {
    // There is nothing else to come, whoever asks again.
    prefetch_full_.push(batch);
    std::rethrow_exception(batch->error_);
  }
  prefetch_current_ = batch;
  state_ = batch->state_;
  top[0]->ReshapeLike(batch->data_);
  top[0]->set_cpu_data(batch->data_.mutable_cpu_data());
  if (this->output_labels_) {
    top[1]->ReshapeLike(batch->label_);
    top[1]->set_cpu_data(batch->label_.mutable_cpu_data());
  }
}

template <typename Dtype>
string BasePrefetchingDataLayer<Dtype>::CurrentState() const {
  DataLayerState state;
  state.set_transformer(this->data_transformer_->SaveState());
  state.set_reader(SaveReader());
  return state.SerializeAsString();
}

template <typename Dtype>
void BasePrefetchingDataLayer<Dtype>::RestoreState(const string& state) {
  StopInternalThread();
  Batch<Dtype>* batch = nullptr;
  while (prefetch_free_.try_pop(&batch) || prefetch_full_.try_pop(&batch)) {
  }
  for (const auto& each : prefetch_) {
    each->error_ = nullptr;
    if (each.get() != prefetch_current_) prefetch_free_.push(each.get());
  }
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
  batch->data_.Reshape(shape);
  if (batch->data_.data()->label().name.empty()) {
    batch->data_.SetLabel(memory::Kind::kData, this->layer_param_.name());
  }
  if (this->output_labels_) batch->label_.Reshape({batch_size});
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

}  // namespace caffe
