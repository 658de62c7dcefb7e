#ifndef CAFFE_HDF5_DATA_LAYER_HPP_
#define CAFFE_HDF5_DATA_LAYER_HPP_

#include <memory>
#include <string>
#include <vector>

#include "caffe/batch_source.hpp"
#include "caffe/blob.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

class VisitOrder;

// Rows of the data sets of HDF5 files, one top for each data set, which it has
// its name from. hdf5_data_param has source (a list of files, one a line),
// batch_size and shuffle: the files, and the rows of each, then come in another
// order every time. One file at a time is in memory as a whole. Nothing is
// transformed. Each of n solvers takes every n-th row; in the TEST phase each
// takes all.
template <typename Dtype>
class HDF5DataLayer : public Layer<Dtype>, public BatchSource<Dtype> {
 public:
  explicit HDF5DataLayer(const LayerParameter& param);
  ~HDF5DataLayer() override;

  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  // Data layers have no bottoms to follow.
  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& /*top*/) override {}

  const char* type() const override { return "HDF5Data"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

  string SaveState() const override;
  void RestoreState(const string& state) override;

  int batch_size() const override { return batch_size_; }
  void SetBatchSize(int batch_size, const vector<Blob<Dtype>*>& top) override;

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}

  // Goes on to the next row, and from the last one of a file to the next file.
  void Next();
  // Whether the row is another solver's.
  bool Skip();
  // Reads the data sets of all tops.
  virtual void LoadHDF5FileData(const char* filename);

  vector<string> hdf_filenames_;
  // The data sets of the file whose turn it is.
  vector<shared_ptr<Blob<Dtype>>> hdf_blobs_;
  uint64_t offset_ = 0;
  int batch_size_ = 0;

 private:
  void ReadFileNames();
  void LoadCurrentFile(uint32_t row_seed);
  void GoTo(const string& state);

  std::unique_ptr<VisitOrder> files_;
  std::unique_ptr<VisitOrder> rows_;
};

}  // namespace caffe

#endif  // CAFFE_HDF5_DATA_LAYER_HPP_
