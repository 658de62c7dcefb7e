#ifndef CAFFE_DATA_LAYERS_HPP_
#define CAFFE_DATA_LAYERS_HPP_

#include <exception>
#include <string>
#include <vector>

#include "caffe/batch_source.hpp"
#include "caffe/blob.hpp"
#include "caffe/data_transformer.hpp"
#include "caffe/internal_thread.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/blocking_queue.hpp"

namespace caffe {

// A layer that feeds a net: top 0 is data, transformed as transform_param says,
// and top 1, if there is one, are labels. A subclass reads its settings and
// shapes its tops in DataLayerSetUp.
template <typename Dtype>
class BaseDataLayer : public Layer<Dtype> {
 public:
  explicit BaseDataLayer(const LayerParameter& param);

  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  virtual void DataLayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                              const vector<Blob<Dtype>*>& /*top*/) {}
  // Whether batches that were read ahead wait as bytes, of which Forward makes
  // values in the memory of the tops. Records of floats are an exception that
  // this does not tell.
  virtual bool waits_as_bytes() const { return false; }
  // Data layers have no bottoms to follow.
  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& /*top*/) override {}

  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}
  using Layer<Dtype>::Backward_gpu;

 protected:
  TransformationParameter transform_param_;
  shared_ptr<DataTransformer<Dtype>> data_transformer_;
  bool output_labels_ = false;
};

// What a prefetch thread hands over.
template <typename Dtype>
class Batch {
 public:
  Blob<Dtype> data_, label_;
  // While images are only cut: their bytes, one after the other, and what they
  // were cut by. Then there is nothing in data_, which has their shape.
  shared_ptr<SyncedMemory> bytes_;
  vector<CropWindow> windows_;
  // Where the layer stood after it had loaded this batch.
  string state_;
  // Why there are no data, when loading them failed.
  std::exception_ptr error_;
};

// A data layer whose batches are loaded by a thread of its own, a few ahead of
// the net. A subclass fills one batch at a time in load_batch, which that
// thread calls; what goes wrong there is thrown from the next Forward. Its
// destructor calls StopInternalThread before its members go.
//
// For exact resumes, SaveReader tells where load_batch stopped reading, and
// RestoreReader goes there. SaveState is what they said about the batch that
// Forward gave out last, however many more the thread has loaded.
template <typename Dtype>
class BasePrefetchingDataLayer : public BaseDataLayer<Dtype>,
                                 public BatchSource<Dtype>,
                                 public InternalThread {
 public:
  explicit BasePrefetchingDataLayer(const LayerParameter& param);

  // Calls DataLayerSetUp, then starts the thread.
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;

  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  using Layer<Dtype>::Forward_gpu;

  string SaveState() const override { return state_; }
  void RestoreState(const string& state) override;

  int batch_size() const override { return batch_size_; }
  void SetBatchSize(int batch_size, const vector<Blob<Dtype>*>& top) override;

 protected:
  void InternalThreadEntry() override;
  virtual void load_batch(Batch<Dtype>* batch) = 0;
  virtual string SaveReader() const { return string(); }
  virtual void RestoreReader(const string& /*reader*/) {}

  // For DataLayerSetUp: takes batch_size for batch_size_, and shapes the tops
  // for so many images, of which one alone has `image_shape`.
  void ShapeTops(const vector<int>& image_shape, int batch_size,
                 const vector<Blob<Dtype>*>& top);
  // For load_batch: the same for a batch.
  void ShapeBatch(const vector<int>& image_shape, int batch_size,
                  Batch<Dtype>* batch);
  // For load_batch: transforms a Datum or cv::Mat for its place in the batch;
  // the last step is left to Forward when it can be.
  template <typename Image>
  void LoadImage(const Image& image, int item, Batch<Dtype>* batch);
  // The memory of one image of a batch, for the transformer to write to.
  Blob<Dtype>* ImageOf(Batch<Dtype>* batch, int item);

  vector<shared_ptr<Batch<Dtype>>> prefetch_;
  BlockingQueue<Batch<Dtype>*> prefetch_free_;
  BlockingQueue<Batch<Dtype>*> prefetch_full_;
  // The one whose memory the tops share, if they do.
  Batch<Dtype>* prefetch_current_ = nullptr;
  // What ImageOf gives.
  Blob<Dtype> transformed_data_;
  // Images that load_batch loads.
  int batch_size_ = 0;

 private:
  string CurrentState() const;
  // The last step for images that are only cut.
  void FinishImages(const Batch<Dtype>& batch, Dtype* values) const;
  // Stops the thread, and takes back what it has loaded.
  void StopLoading();
  // Takes the transformer and the reader to a state.
  void GoTo(const string& state);

  // That of the batch that Forward gave out last.
  string state_;
};

}  // namespace caffe

#endif  // CAFFE_DATA_LAYERS_HPP_
