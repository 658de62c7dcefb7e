#include "caffe/layers/image_data_layer.hpp"

#include <opencv2/core.hpp>

#include "caffe/util/io.hpp"
#include "data/image_list.hpp"
#include "data/reading.hpp"
#include "data/visit_order.hpp"

namespace caffe {

template <typename Dtype>
ImageDataLayer<Dtype>::ImageDataLayer(const LayerParameter& param)
    : BasePrefetchingDataLayer<Dtype>(param) {}

template <typename Dtype>
ImageDataLayer<Dtype>::~ImageDataLayer() {
  this->StopInternalThread();
}

template <typename Dtype>
void ImageDataLayer<Dtype>::DataLayerSetUp(
    const vector<Blob<Dtype>*>& /*bottom*/, const vector<Blob<Dtype>*>& top) {
  const ImageDataParameter& param = this->layer_param_.image_data_param();
  const int batch_size = BatchSize("image_data_param", param.batch_size());
  Require((param.new_height() > 0) == (param.new_width() > 0),
          "image_data_param has new_height ", param.new_height(),
          " and new_width ", param.new_width(), "; give both or none");
  Require(param.new_height() <= INT_MAX && param.new_width() <= INT_MAX,
          "image_data_param's new_height or new_width is out of range");
  LOG(INFO) << "Opening file " << param.source();
  lines_ = ReadImageList(param.source());
  LOG(INFO) << "A total of " << lines_.size() << " images.";
  const bool shuffled = param.shuffle();
  LOG_IF(WARNING, this->phase_ == TRAIN && Caffe::solver_rank() > 0 &&
                      !shuffled && param.rand_skip() == 0)
      << "Shuffling or skipping recommended for multi-GPU";
  order_ = std::make_unique<VisitOrder>(lines_.size(), shuffled,
                                        shuffled ? caffe_rng_rand() : 0);
  const unsigned int skip = DrawSkip(param.rand_skip());
  Require(skip < lines_.size(), "cannot skip ", skip, " of the ", lines_.size(),
          " images of ", param.source());
  for (unsigned int i = 0; i < skip; ++i) order_->Next();
  ReadCurrent([&](const cv::Mat& image, int /*label*/) {
    this->ShapeTops(this->data_transformer_->InferBlobShape(image), batch_size,
                    top);
  });
}

template <typename Dtype>
template <typename Use>
void ImageDataLayer<Dtype>::ReadCurrent(const Use& use) {
  const ImageDataParameter& param = this->layer_param_.image_data_param();
  const auto& [path, label] = lines_[order_->current()];
  try {
    const cv::Mat image = ReadImageToCVMat(
        param.root_folder() + path, static_cast<int>(param.new_height()),
        static_cast<int>(param.new_width()), param.is_color());
    Require(!image.empty(), "it cannot be read, or is not a whole image");
    use(image, label);
  } catch (const Error& error) {
    Fail("image '", param.root_folder(), path, "' of ", param.source(), ": ",
         error.what());
  }
}

template <typename Dtype>
void ImageDataLayer<Dtype>::load_batch(Batch<Dtype>* batch) {
  const int batch_size = this->batch_size_;
  for (int item = 0; item < batch_size; ++item) {
    ReadCurrent([&](const cv::Mat& image, int label) {
      if (item == 0) {
        this->ShapeBatch(this->data_transformer_->InferBlobShape(image),
                         batch_size, batch);
      }
      this->LoadImage(image, item, batch);
      batch->label_.mutable_cpu_data()[item] = label;
    });
    order_->Next();
  }
}

template <typename Dtype>
string ImageDataLayer<Dtype>::SaveReader() const {
  return order_->Save().SerializeAsString();
}

template <typename Dtype>
void ImageDataLayer<Dtype>::RestoreReader(const string& reader) {
  order_->Restore(ParsePosition<ListPosition>(reader));
}

INSTANTIATE_CLASS(ImageDataLayer);
REGISTER_LAYER_CLASS(ImageData);

}  // namespace caffe
