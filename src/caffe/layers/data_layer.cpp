#include "caffe/layers/data_layer.hpp"

#include "data/open_database.hpp"
#include "data/reading.hpp"

namespace caffe {

template <typename Dtype>
void DataLayer<Dtype>::Open() {
  const DataParameter& param = this->layer_param_.data_param();
  Require(!param.source().empty(), "data_param has no source");
  db_ =
      OpenDatabase(param.source(),
                   param.backend() == DataParameter::LMDB ? "lmdb" : "leveldb");
  cursor_.reset(db_->NewCursor());
  Require(cursor_->valid(), "database '", param.source(), "' is empty");
}

template <typename Dtype>
void DataLayer<Dtype>::DataLayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                      const vector<Blob<Dtype>*>& top) {
  const DataParameter& param = this->layer_param_.data_param();
  const int batch_size = BatchSize("data_param", param.batch_size());
  Open();
  ReadRecord([&](const Datum& datum) {
    this->ShapeTops(this->data_transformer_->InferBlobShape(datum), batch_size,
                    top);
  });
  for (unsigned int n = DrawSkip(param.rand_skip()); n > 0; --n) Next();
}

template <typename Dtype>
bool DataLayer<Dtype>::Skip() {
  return IsForAnotherSolver(offset_, this->phase_);
}

template <typename Dtype>
void DataLayer<Dtype>::Next() {
  cursor_->Next();
  if (!cursor_->valid()) {
    DLOG(INFO) << "Restarting data prefetching from start.";
    cursor_->SeekToFirst();
  }
  ++offset_;
}

template <typename Dtype>
template <typename Use>
void DataLayer<Dtype>::ReadRecord(const Use& use) {
  try {
    Require(datum_.ParseFromString(cursor_->value()), "it is not a Datum");
    use(datum_);
  } catch (const Error& error) {
    Fail("record '", cursor_->key(), "' of database '",
         this->layer_param_.data_param().source(), "': ", error.what());
  }
}

template <typename Dtype>
void DataLayer<Dtype>::load_batch(Batch<Dtype>* batch) {
  const int batch_size = this->batch_size_;
  for (int item = 0; item < batch_size; ++item) {
    while (Skip()) Next();
    ReadRecord([&](const Datum& datum) {
      if (item == 0) {
        this->ShapeBatch(this->data_transformer_->InferBlobShape(datum),
                         batch_size, batch);
      }
      this->LoadImage(datum, item, batch);
      if (this->output_labels_) {
        batch->label_.mutable_cpu_data()[item] = datum.label();
      }
    });
    Next();
  }
}

template <typename Dtype>
string DataLayer<Dtype>::SaveReader() const {
  DatabasePosition position;
  position.set_key(cursor_->key());
  position.set_passed(offset_);
  return position.SerializeAsString();
}

template <typename Dtype>
void DataLayer<Dtype>::RestoreReader(const string& reader) {
  const auto position = ParsePosition<DatabasePosition>(reader);
  Require(cursor_->Seek(position.key()), "database '",
          this->layer_param_.data_param().source(), "' has no record '",
          position.key(), "', where the run to resume would go on");
  offset_ = position.passed();
}

INSTANTIATE_CLASS(DataLayer);
REGISTER_LAYER_CLASS(Data);

}  // namespace caffe
