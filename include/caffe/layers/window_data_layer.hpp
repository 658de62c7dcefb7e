#ifndef CAFFE_WINDOW_DATA_LAYER_HPP_
#define CAFFE_WINDOW_DATA_LAYER_HPP_

#include <memory>
#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/data_transformer.hpp"
#include "caffe/layers/base_data_layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

struct ImageWindow;
struct WindowFile;

// Windows of images (top 0) and their labels (top 1), as R-CNN is trained on.
// Every batch has fg_fraction of windows that overlap an object by
// fg_threshold or more; the others overlap it by less than bg_threshold and
// have label 0. All are drawn at random, with context_pad and crop_mode ("warp"
// or "square") as window_data_param says, and brought to crop_size. source is
// a window file (see data/window_file.hpp) whose paths are below root_folder.
// mirror, crop_size, scale and the mean are in transform_param.
template <typename Dtype>
class WindowDataLayer : public BasePrefetchingDataLayer<Dtype> {
 public:
  explicit WindowDataLayer(const LayerParameter& param);
  ~WindowDataLayer() override;

  void DataLayerSetUp(const vector<Blob<Dtype>*>& bottom,
                      const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "WindowData"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int ExactNumTopBlobs() const override { return 2; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  virtual unsigned int PrefetchRand();
  void load_batch(Batch<Dtype>* batch) override;
  string SaveReader() const override;
  void RestoreReader(const string& reader) override;

  shared_ptr<Caffe::RNG> prefetch_rng_;
  vector<ImageWindow> fg_windows_;
  vector<ImageWindow> bg_windows_;
  Blob<Dtype> data_mean_;
  vector<Dtype> mean_values_;

 private:
  void CheckSettings() const;
  void ReadMean();
  void SortWindows();
  cv::Mat ReadImage(size_t image) const;
  void WriteWindow(const ImageWindow& window, bool mirrored,
                   Dtype* target) const;

  std::unique_ptr<WindowFile> file_;
  // The files of all images, as they are; empty unless cache_images is set.
  vector<Datum> cache_;
};

}  // namespace caffe

#endif  // CAFFE_WINDOW_DATA_LAYER_HPP_
