#ifndef CAFFE_DATA_LAYER_HPP_
#define CAFFE_DATA_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/data_transformer.hpp"
#include "caffe/layers/base_data_layer.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/db.hpp"

namespace caffe {

// Images (top 0) and labels (top 1, if there is one) from the datums of a
// database, LMDB or LevelDB, in the order of their keys, again and again.
// data_param has source, backend, batch_size, prefetch and rand_skip, the upper
// bound of how many records to skip at the start. Each of n solvers takes every
// n-th record; in the TEST phase each takes all.
template <typename Dtype>
class DataLayer : public BasePrefetchingDataLayer<Dtype> {
 public:
  using BasePrefetchingDataLayer<Dtype>::BasePrefetchingDataLayer;
  ~DataLayer() override { this->StopInternalThread(); }

  void DataLayerSetUp(const vector<Blob<Dtype>*>& bottom,
                      const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Data"; }
  bool waits_as_bytes() const override { return true; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  // Goes on to the next record, from the last one to the first.
  void Next();
  // Whether the record is another solver's.
  bool Skip();
  void load_batch(Batch<Dtype>* batch) override;
  string SaveReader() const override;
  void RestoreReader(const string& reader) override;

  shared_ptr<db::DB> db_;
  shared_ptr<db::Cursor> cursor_;
  uint64_t offset_ = 0;

 private:
  void Open();
  // Calls use(datum) with the record at the cursor, and puts the record's name
  // in front of any Error.
  template <typename Use>
  void ReadRecord(const Use& use);

  Datum datum_;  // Kept for its memory.
};

}  // namespace caffe

#endif  // CAFFE_DATA_LAYER_HPP_
