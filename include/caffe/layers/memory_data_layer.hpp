#ifndef CAFFE_MEMORY_DATA_LAYER_HPP_
#define CAFFE_MEMORY_DATA_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/layer.hpp"
#include "caffe/layers/base_data_layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Images (top 0) and labels (top 1) that a program hands over: images to be
// transformed and kept here (AddDatumVector, AddMatVector), or arrays of its
// own that are used where they are (Reset). Forward goes through them again and
// again. memory_data_param gives batch_size, channels, height and width.
template <typename Dtype>
class MemoryDataLayer : public BaseDataLayer<Dtype> {
 public:
  explicit MemoryDataLayer(const LayerParameter& param)
      : BaseDataLayer<Dtype>(param) {}

  void DataLayerSetUp(const vector<Blob<Dtype>*>& bottom,
                      const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "MemoryData"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int ExactNumTopBlobs() const override { return 2; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

  // Take a multiple of the batch size of images, once the ones before are used
  // up.
  virtual void AddDatumVector(const vector<Datum>& datum_vector);
  virtual void AddMatVector(const vector<cv::Mat>& mat_vector,
                            const vector<int>& labels);

  // Uses n images and labels, a multiple of the batch size, which stay the
  // caller's and must outlive their use. They are not transformed.
  void Reset(Dtype* data, Dtype* label, int n);
  // Goes back to the first image, too.
  void set_batch_size(int new_size);

  int batch_size() const { return batch_size_; }
  int channels() const { return channels_; }
  int height() const { return height_; }
  int width() const { return width_; }

  string SaveState() const override;
  // REQUIRES: the same images as when the state was saved.
  void RestoreState(const string& state) override;

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;

  int batch_size_ = 0;
  int channels_ = 0;
  int height_ = 0;
  int width_ = 0;
  int size_ = 0;
  Dtype* data_ = nullptr;
  Dtype* labels_ = nullptr;
  int n_ = 0;
  // The image that the next batch starts with.
  size_t pos_ = 0;
  Blob<Dtype> added_data_;
  Blob<Dtype> added_label_;
  // Whether added images are still to be used.
  bool has_new_data_ = false;

 private:
  template <typename Image>
  void AddImages(const vector<Image>& images);
  void UseAdded();
  void CheckCount(int n) const;
  void Use(Dtype* data, Dtype* label, int n);
};

}  // namespace caffe

#endif  // CAFFE_MEMORY_DATA_LAYER_HPP_
