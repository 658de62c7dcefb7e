#ifndef CAFFE_DUMMY_DATA_LAYER_HPP_
#define CAFFE_DUMMY_DATA_LAYER_HPP_

#include <vector>

#include "caffe/batch_source.hpp"
#include "caffe/blob.hpp"
#include "caffe/filler.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Tops made by fillers, for tests and timing. Tops with a constant filler are
// filled once, at set-up; all others get new values in every Forward, from the
// generator of the calling thread. Without a filler all values are zero.
//
// dummy_data_param takes one filler and one shape for all tops or one of each
// per top. Older files give num, channels, height and width in place of shape.
template <typename Dtype>
class DummyDataLayer : public Layer<Dtype>, public BatchSource<Dtype> {
 public:
  explicit DummyDataLayer(const LayerParameter& param) : Layer<Dtype>(param) {}

  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& /*top*/) override {}

  const char* type() const override { return "DummyData"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }
  // Says nothing when a top was filled once for all and must stay.
  BackwardReads backward_reads() const override;

  // The first extent of the first top. Tops that have another keep it.
  int batch_size() const override { return batch_size_; }
  void SetBatchSize(int batch_size, const vector<Blob<Dtype>*>& top) override;

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}

  // One for each top, or one for all; the same holds for refill_.
  vector<shared_ptr<Filler<Dtype>>> fillers_;
  // Whether Forward fills the tops of that filler again.
  vector<bool> refill_;

 private:
  void ShapeTops(const vector<Blob<Dtype>*>& top);
  void MakeFillers(int num_top);
  // Fills those tops that Forward fills again, or those that it does not.
  void Fill(bool refilled, const vector<Blob<Dtype>*>& top);

  int batch_size_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_DUMMY_DATA_LAYER_HPP_
