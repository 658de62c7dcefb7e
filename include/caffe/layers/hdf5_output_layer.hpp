#ifndef CAFFE_HDF5_OUTPUT_LAYER_HPP_
#define CAFFE_HDF5_OUTPUT_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

#define HDF5_DATA_DATASET_NAME "data"
#define HDF5_DATA_LABEL_NAME "label"

// Writes its bottoms to the data sets "data" and "label" of the file that
// hdf5_output_param names; every Forward adds rows. Values are kept in memory.
// The file is replaced as a whole when the first rows come, whenever they have
// doubled, and when the layer goes: it is good at any time.
template <typename Dtype>
class HDF5OutputLayer : public Layer<Dtype> {
 public:
  explicit HDF5OutputLayer(const LayerParameter& param);
  ~HDF5OutputLayer() override;

  // Starts an empty file.
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  // There are no tops to shape.
  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& /*top*/) override {}

  const char* type() const override { return "HDF5Output"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 0; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

  string file_name() const { return file_name_; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  // Gradients are zero.
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;
  // Replaces the file by one with all rows.
  virtual void SaveBlobs();

  string file_name_;

 private:
  // The rows of one data set.
  struct Rows {
    vector<int> shape;  // As Caffe has it, of four axes.
    vector<Dtype> values;
  };

  // The shape of the rows with those of the blob.
  vector<int> ShapeWith(const Blob<Dtype>& bottom, const Rows& rows) const;

  Rows data_;
  Rows labels_;
  size_t saved_values_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_HDF5_OUTPUT_LAYER_HPP_
