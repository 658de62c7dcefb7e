#include "caffe/layers/window_data_layer.hpp"

#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "caffe/util/io.hpp"
#include "caffe/util/rng.hpp"
#include "cpu/image.hpp"
#include "data/image_mean.hpp"
#include "data/reading.hpp"
#include "data/window_file.hpp"

namespace caffe {

template <typename Dtype>
WindowDataLayer<Dtype>::WindowDataLayer(const LayerParameter& param)
    : BasePrefetchingDataLayer<Dtype>(param) {}

template <typename Dtype>
WindowDataLayer<Dtype>::~WindowDataLayer() {
  this->StopInternalThread();
}

template <typename Dtype>
void WindowDataLayer<Dtype>::CheckSettings() const {
  const WindowDataParameter& param = this->layer_param_.window_data_param();
  const uint32_t crop_size = this->transform_param_.crop_size();
  Require(crop_size > 0 && crop_size <= INT_MAX,
          "transform_param needs a crop_size: the size of the windows");
  Require(param.context_pad() < (crop_size + 1) / 2,
          "window_data_param's context_pad ", param.context_pad(),
          " leaves nothing of crop_size ", crop_size);
  Require(param.crop_mode() == "warp" || param.crop_mode() == "square",
          "window_data_param's crop_mode is '", param.crop_mode(),
          "'; it must be 'warp' or 'square'");
  Require(param.fg_fraction() >= 0 && param.fg_fraction() <= 1,
          "window_data_param's fg_fraction is ", param.fg_fraction(),
          "; it must be 0 to 1");
}

template <typename Dtype>
void WindowDataLayer<Dtype>::ReadMean() {
  const TransformationParameter& param = this->transform_param_;
  caffe::ReadMean(param, &data_mean_, &mean_values_);
  CheckMeanValues(mean_values_, file_->channels);
  const int crop_size = static_cast<int>(param.crop_size());
  Require(
      data_mean_.count() == 0 ||
          (data_mean_.channels() == file_->channels &&
           data_mean_.height() >= crop_size && data_mean_.width() >= crop_size),
      "mean file '", param.mean_file(), "' of shape ",
      data_mean_.shape_string(), " does not fit windows of size ",
      file_->channels, " x ", crop_size, " x ", crop_size);
}

template <typename Dtype>
void WindowDataLayer<Dtype>::SortWindows() {
  const WindowDataParameter& param = this->layer_param_.window_data_param();
  std::map<int, int> label_counts;
  for (ImageWindow window : file_->windows) {
    if (window.overlap >= param.fg_threshold()) {
      Require(window.label > 0, "window file ", param.source(),
              " has a window with an object and label ", window.label, ", in ",
              file_->images[window.image]);
      fg_windows_.push_back(window);
    } else if (window.overlap < param.bg_threshold()) {
      window.label = 0;
      bg_windows_.push_back(window);
    } else {
      continue;
    }
    ++label_counts[window.label];
  }
  // All windows are in one of the lists above now, or of no use.
  file_->windows = {};
  LOG(INFO) << "Number of images: " << file_->images.size();
  for (const auto& [label, count] : label_counts) {
    LOG(INFO) << "class " << label << " has " << count << " samples";
  }
}

template <typename Dtype>
void WindowDataLayer<Dtype>::DataLayerSetUp(
    const vector<Blob<Dtype>*>& /*bottom*/, const vector<Blob<Dtype>*>& top) {
  const WindowDataParameter& param = this->layer_param_.window_data_param();
  const int batch_size = BatchSize("window_data_param", param.batch_size());
  CheckSettings();
  prefetch_rng_ = boost::make_shared<Caffe::RNG>(caffe_rng_rand());
  file_ = std::make_unique<WindowFile>(ReadWindowFile(param.source()));
  ReadMean();
  SortWindows();
  const int num_fg = static_cast<int>(batch_size * param.fg_fraction());
  Require(num_fg == 0 || !fg_windows_.empty(), "window file ", param.source(),
          " has no window of overlap ", param.fg_threshold(), " or more");
  Require(num_fg == batch_size || !bg_windows_.empty(), "window file ",
          param.source(), " has no window of overlap less than ",
          param.bg_threshold());
  if (param.cache_images()) {
    for (const string& path : file_->images) {
      cache_.emplace_back();
      Require(ReadFileToDatum(param.root_folder() + path, &cache_.back()),
              "cannot read image '", param.root_folder(), path,
              "' of window file ", param.source());
    }
  }
  const int crop_size = static_cast<int>(this->transform_param_.crop_size());
  this->ShapeTops({1, file_->channels, crop_size, crop_size}, batch_size, top);
}

template <typename Dtype>
unsigned int WindowDataLayer<Dtype>::PrefetchRand() {
  return (*static_cast<rng_t*>(prefetch_rng_->generator()))();
}

template <typename Dtype>
void WindowDataLayer<Dtype>::load_batch(Batch<Dtype>* batch) {
  const WindowDataParameter& param = this->layer_param_.window_data_param();
  const int batch_size = this->batch_size_;
  const int crop_size = static_cast<int>(this->transform_param_.crop_size());
  this->ShapeBatch({1, file_->channels, crop_size, crop_size}, batch_size,
                   batch);
  // Where a window reaches over the edges of its image.
  caffe_set(batch->data_.count(), Dtype(0), batch->data_.mutable_cpu_data());
  const int num_fg = static_cast<int>(batch_size * param.fg_fraction());
  for (int item = 0; item < batch_size; ++item) {
    // Background first, as in Caffe.
    const vector<ImageWindow>& windows =
        item < batch_size - num_fg ? bg_windows_ : fg_windows_;
    // A larger batch may be the first to take of a kind.
    Require(!windows.empty(), "window file ", param.source(),
            " has no windows for a batch of ", batch_size);
    const ImageWindow& window = windows[PrefetchRand() % windows.size()];
    const bool mirrored =
        this->transform_param_.mirror() && PrefetchRand() % 2 == 1;
    try {
      WriteWindow(window, mirrored,
                  this->ImageOf(batch, item)->mutable_cpu_data());
    } catch (const Error& error) {
      Fail("window ", window.x1, " ", window.y1, " ", window.x2, " ", window.y2,
           " of image '", param.root_folder(), file_->images[window.image],
           "' of ", param.source(), ": ", error.what());
    }
    batch->label_.mutable_cpu_data()[item] = window.label;
  }
}

template <typename Dtype>
cv::Mat WindowDataLayer<Dtype>::ReadImage(size_t image) const {
  const bool is_color = file_->channels == 3;
  if (!cache_.empty()) return DecodeDatumToCVMat(cache_[image], is_color);
  cv::Mat pixels =
      ReadImageToCVMat(this->layer_param_.window_data_param().root_folder() +
                           file_->images[image],
                       is_color);
  Require(!pixels.empty(), "the image cannot be read");
  return pixels;
}

template <typename Dtype>
void WindowDataLayer<Dtype>::WriteWindow(const ImageWindow& window,
                                         bool mirrored, Dtype* target) const {
  const WindowDataParameter& param = this->layer_param_.window_data_param();
  const int crop_size = static_cast<int>(this->transform_param_.crop_size());
  const cv::Mat image = ReadImage(window.image);
  const WindowPlacement at =
      PlaceWindow(window, image.cols, image.rows, crop_size,
                  static_cast<int>(param.context_pad()),
                  param.crop_mode() == "square", mirrored);
  cv::Mat resized;
  cv::resize(image(cv::Rect(at.x, at.y, at.width, at.height)), resized,
             cv::Size(at.resized_width, at.resized_height));

  auto mean = MeanView(data_mean_, mean_values_);
  if (data_mean_.count() > 0) {
    mean = cpu::Crop(mean, (data_mean_.height() - crop_size) / 2,
                     (data_mean_.width() - crop_size) / 2);
  }
  auto source = cpu::Interleaved(std::as_const(resized).ptr<uint8_t>(),
                                 resized.channels(), int64_t(resized.step[0]));
  if (mirrored) source = cpu::Mirror(source, resized.cols);
  cpu::NormalizeImage(
      {resized.channels(), resized.rows, resized.cols}, source,
      cpu::Crop(mean, at.top, at.left),
      static_cast<Dtype>(this->transform_param_.scale()),
      cpu::Crop(cpu::Planar(target, crop_size, crop_size), at.top, at.left));
}

template <typename Dtype>
string WindowDataLayer<Dtype>::SaveReader() const {
  return SaveRng(*static_cast<const rng_t*>(prefetch_rng_->generator()));
}

template <typename Dtype>
void WindowDataLayer<Dtype>::RestoreReader(const string& reader) {
  RestoreRng(reader, static_cast<rng_t*>(prefetch_rng_->generator()));
}

INSTANTIATE_CLASS(WindowDataLayer);
REGISTER_LAYER_CLASS(WindowData);

}  // namespace caffe
