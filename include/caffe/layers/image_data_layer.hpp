#ifndef CAFFE_IMAGE_DATA_LAYER_HPP_
#define CAFFE_IMAGE_DATA_LAYER_HPP_

#include <string>
#include <utility>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/data_transformer.hpp"
#include "caffe/layers/base_data_layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

class VisitOrder;

// Images (top 0) and labels (top 1) from image files. image_data_param names
// the list of files (source: a path below root_folder, a space and a label in
// every line), whether to shuffle them anew every time round, the size to which
// to resize all of them, whether they are read in colour, and, as rand_skip,
// the upper bound of how many to skip at the start. Images of different sizes
// need a new size, a crop_size or batches of one.
template <typename Dtype>
class ImageDataLayer : public BasePrefetchingDataLayer<Dtype> {
 public:
  explicit ImageDataLayer(const LayerParameter& param);
  ~ImageDataLayer() override;

  void DataLayerSetUp(const vector<Blob<Dtype>*>& bottom,
                      const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "ImageData"; }
  bool waits_as_bytes() const override { return true; }
  int ExactNumBottomBlobs() const override { return 0; }
  int ExactNumTopBlobs() const override { return 2; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void load_batch(Batch<Dtype>* batch) override;
  string SaveReader() const override;
  void RestoreReader(const string& reader) override;

  // Paths and labels, as listed.
  vector<std::pair<string, int>> lines_;

 private:
  // Calls use(image, label) with the image whose turn it is, and puts its name
  // in front of any Error.
  template <typename Use>
  void ReadCurrent(const Use& use);

  std::unique_ptr<VisitOrder> order_;
};

}  // namespace caffe

#endif  // CAFFE_IMAGE_DATA_LAYER_HPP_
