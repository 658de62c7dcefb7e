#include "caffe/data_transformer.hpp"

#include <opencv2/core.hpp>

#include "caffe/util/io.hpp"
#include "caffe/util/math_functions.hpp"
#include "caffe/util/rng.hpp"
#include "cpu/image.hpp"
#include "data/image_mean.hpp"

namespace caffe {

using cpu::ImageSize;
using cpu::ImageView;

namespace {

string SizeString(int channels, int height, int width) {
  return Concat(channels, " x ", height, " x ", width);
}

string SizeString(const ImageSize& size) {
  return SizeString(size.channels, size.height, size.width);
}

ImageSize SizeOf(const Datum& datum) {
  const ImageSize size{datum.channels(), datum.height(), datum.width()};
  const bool has_size = size.channels > 0 && size.height > 0 && size.width > 0;
  if (!has_size) {
    Fail("the datum says that its size is ", SizeString(size),
         ", which is no image");
  }
  // Extents are ints: the first product fits 64 bits, the second may not.
  const int64_t values = int64_t{size.channels} * size.height;
  const int64_t have = datum.data().empty()
                           ? datum.float_data_size()
                           : static_cast<int64_t>(datum.data().size());
  const bool fits = have % values == 0 && have / values == size.width;
  if (!fits) {
    Fail("the datum has ", have, " values, which does not fit its size, ",
         SizeString(size));
  }
  return size;
}

ImageSize SizeOf(const cv::Mat& image) {
  Require(!image.empty() && image.dims == 2, "the image is empty");
  Require(image.depth() == CV_8U, "the image has pixels of ",
          8 * image.elemSize1(), " bits where bytes are needed");
  return {image.channels(), image.rows, image.cols};
}

template <typename Dtype>
ImageSize SizeOf(const Blob<Dtype>& blob) {
  return {blob.channels(), blob.height(), blob.width()};
}

// The bytes of an image, where it has any.
ImageView<const uint8_t> BytesOf(const Datum& datum) {
  return cpu::Planar(reinterpret_cast<const uint8_t*>(datum.data().data()),
                     datum.height(), datum.width());
}

ImageView<const uint8_t> BytesOf(const cv::Mat& image) {
  return cpu::Interleaved(image.ptr<uint8_t>(), image.channels(),
                          static_cast<int64_t>(image.step[0]));
}

template <typename Pixel>
ImageView<const Pixel> ContentOf(const ImageView<const Pixel>& image,
                                 const CropWindow& window) {
  return cpu::Crop(image, window.top, window.left);
}

void CopyContent(int channels, const ImageView<const uint8_t>& image,
                 const CropWindow& window, uint8_t* bytes) {
  cpu::CopyImage({channels, window.height, window.width},
                 ContentOf(image, window),
                 cpu::Planar(bytes, window.height, window.width));
}

void WarnOfNoEffect(const TransformationParameter& param) {
  if (!param.force_color() && !param.force_gray()) return;
  LOG_FIRST_N(WARNING, 1)
      << "force_color and force_gray have no effect on raw pixels, only on "
         "encoded images";
}

}  // namespace

template <typename Dtype>
DataTransformer<Dtype>::DataTransformer(const TransformationParameter& param,
                                        Phase phase)
    : param_(param), phase_(phase) {
  Require(!param_.force_color() || !param_.force_gray(),
          "transform_param sets both force_color and force_gray; set one");
  Require(param_.crop_size() <= INT_MAX, "transform_param's crop_size ",
          param_.crop_size(), " is out of range");
  ReadMean(param_, &data_mean_, &mean_values_);
}

template <typename Dtype>
bool DataTransformer<Dtype>::NeedsRand() const {
  return param_.mirror() || (phase_ == TRAIN && param_.crop_size() > 0);
}

template <typename Dtype>
void DataTransformer<Dtype>::InitRand() {
  rng_.reset(NeedsRand() ? new Caffe::RNG(caffe_rng_rand()) : nullptr);
}

template <typename Dtype>
int DataTransformer<Dtype>::Rand(int n) {
  CHECK(rng_) << "InitRand was not called";
  CHECK_GT(n, 0);
  rng_t& rng = *static_cast<rng_t*>(rng_->generator());
  return static_cast<int>(rng() % n);
}

template <typename Dtype>
string DataTransformer<Dtype>::SaveState() const {
  if (!rng_) return string();
  return SaveRng(*static_cast<const rng_t*>(rng_->generator()));
}

template <typename Dtype>
void DataTransformer<Dtype>::RestoreState(const string& state) {
  Require(state.empty() != NeedsRand(),
          "transform_param's mirror or crop_size are not those of the run to "
          "resume");
  if (state.empty()) return;
  if (!rng_) rng_ = boost::make_shared<Caffe::RNG>(0);
  RestoreRng(state, static_cast<rng_t*>(rng_->generator()));
}

template <typename Dtype>
vector<int> DataTransformer<Dtype>::TransformedShape(
    const ImageSize& size) const {
  const int crop = static_cast<int>(param_.crop_size());
  if (crop > size.height || crop > size.width) {
    Fail("crop_size ", crop, " is larger than the ", size.height, " x ",
         size.width, " image");
  }
  if (param_.has_mean_file()) {
    const ImageSize mean = SizeOf(data_mean_);
    const bool fits = mean.channels == size.channels &&
                      mean.height == size.height && mean.width == size.width;
    if (!fits) {
      Fail("an image of size ", SizeString(size), " does not fit mean file '",
           param_.mean_file(), "' of size ", SizeString(mean));
    }
  }
  CheckMeanValues(mean_values_, size.channels);
  return {1, size.channels, crop > 0 ? crop : size.height,
          crop > 0 ? crop : size.width};
}

template <typename Dtype>
auto DataTransformer<Dtype>::DrawWindow(const ImageSize& size,
                                        const Blob<Dtype>& target)
    -> CropWindow {
  const vector<int> shape = TransformedShape(size);
  CropWindow window;
  window.height = shape[2];
  window.width = shape[3];
  const bool fits = target.num_axes() <= 4 && target.num() >= 1 &&
                    target.channels() == size.channels &&
                    target.height() == window.height &&
                    target.width() == window.width;
  if (!fits) {
    Fail("an image of size ", SizeString(size.channels, shape[2], shape[3]),
         " does not fit a blob of shape ", target.shape_string());
  }
  // The order of draws is Caffe's.
  window.mirrored = param_.mirror() && Rand(2) == 1;
  if (param_.crop_size() == 0) return window;
  const int room_above = size.height - window.height;
  const int room_left = size.width - window.width;
  const bool anywhere = phase_ == TRAIN;
  window.top = anywhere ? Rand(room_above + 1) : room_above / 2;
  window.left = anywhere ? Rand(room_left + 1) : room_left / 2;
  return window;
}

template <typename Dtype>
template <typename Pixel>
void DataTransformer<Dtype>::Write(int channels,
                                   const ImageView<const Pixel>& content,
                                   const CropWindow& window,
                                   Dtype* target) const {
  ImageView<Dtype> to = cpu::Planar(target, window.height, window.width);
  if (window.mirrored) to = cpu::Mirror(to, window.width);
  cpu::NormalizeImage(
      {channels, window.height, window.width}, content,
      cpu::Crop(MeanView(data_mean_, mean_values_), window.top, window.left),
      static_cast<Dtype>(param_.scale()), to);
}

template <typename Dtype>
cv::Mat DataTransformer<Dtype>::Decode(const Datum& datum) const {
  // Without a wish, the image's own colours.
  if (!param_.force_color() && !param_.force_gray()) {
    return DecodeDatumToCVMatNative(datum);
  }
  return DecodeDatumToCVMat(datum, param_.force_color());
}

template <typename Dtype>
void DataTransformer<Dtype>::Transform(const Datum& datum,
                                       Blob<Dtype>* transformed_blob) {
  if (datum.encoded()) return Transform(Decode(datum), transformed_blob);
  WarnOfNoEffect(param_);
  const ImageSize size = SizeOf(datum);
  const CropWindow window = DrawWindow(size, *transformed_blob);
  Dtype* const target = transformed_blob->mutable_cpu_data();
  if (datum.data().empty()) {
    const float* const values = datum.float_data().data();
    Write(size.channels,
          ContentOf(cpu::Planar(values, size.height, size.width), window),
          window, target);
  } else {
    Write(size.channels, ContentOf(BytesOf(datum), window), window, target);
  }
}

template <typename Dtype>
void DataTransformer<Dtype>::Transform(const cv::Mat& cv_img,
                                       Blob<Dtype>* transformed_blob) {
  const ImageSize size = SizeOf(cv_img);
  const CropWindow window = DrawWindow(size, *transformed_blob);
  Write(size.channels, ContentOf(BytesOf(cv_img), window), window,
        transformed_blob->mutable_cpu_data());
}

template <typename Dtype>
bool DataTransformer<Dtype>::IsOfBytes(const Datum& datum) {
  return datum.encoded() || !datum.data().empty();
}

template <typename Dtype>
CropWindow DataTransformer<Dtype>::Cut(const Datum& datum,
                                       const Blob<Dtype>& shape,
                                       uint8_t* bytes) {
  if (datum.encoded()) return Cut(Decode(datum), shape, bytes);
  WarnOfNoEffect(param_);
  const ImageSize size = SizeOf(datum);
  Require(IsOfBytes(datum), "the datum is not of bytes");
  const CropWindow window = DrawWindow(size, shape);
  CopyContent(size.channels, BytesOf(datum), window, bytes);
  return window;
}

template <typename Dtype>
CropWindow DataTransformer<Dtype>::Cut(const cv::Mat& cv_img,
                                       const Blob<Dtype>& shape,
                                       uint8_t* bytes) {
  const ImageSize size = SizeOf(cv_img);
  const CropWindow window = DrawWindow(size, shape);
  CopyContent(size.channels, BytesOf(cv_img), window, bytes);
  return window;
}

template <typename Dtype>
void DataTransformer<Dtype>::Finish(int channels, const uint8_t* bytes,
                                    const CropWindow& window,
                                    Dtype* values) const {
  Write(channels, cpu::Planar(bytes, window.height, window.width), window,
        values);
}

template <typename Dtype>
void DataTransformer<Dtype>::Transform(Blob<Dtype>* input_blob,
                                       Blob<Dtype>* transformed_blob) {
  const ImageSize size = SizeOf(*input_blob);
  if (transformed_blob->count() == 0) {
    vector<int> shape = TransformedShape(size);
    shape[0] = input_blob->num();
    transformed_blob->Reshape(shape);
  }
  const CropWindow window = DrawWindow(size, *transformed_blob);
  Require(input_blob->num() <= transformed_blob->num(), input_blob->num(),
          " images do not fit a blob of shape ",
          transformed_blob->shape_string());
  for (int n = 0; n < input_blob->num(); ++n) {
    const Dtype* const image = input_blob->cpu_data() + input_blob->offset(n);
    Write(size.channels,
          ContentOf(cpu::Planar(image, size.height, size.width), window),
          window,
          transformed_blob->mutable_cpu_data() + transformed_blob->offset(n));
  }
}

template <typename Dtype>
template <typename Image>
void DataTransformer<Dtype>::TransformBatch(const vector<Image>& images,
                                            Blob<Dtype>* transformed_blob) {
  const int count = static_cast<int>(images.size());
  Require(count > 0, "there are no images to transform");
  Require(count <= transformed_blob->num(), count,
          " images do not fit a blob of shape ",
          transformed_blob->shape_string());
  Blob<Dtype> one(1, transformed_blob->channels(), transformed_blob->height(),
                  transformed_blob->width());
  for (int n = 0; n < count; ++n) {
    one.set_cpu_data(transformed_blob->mutable_cpu_data() +
                     transformed_blob->offset(n));
    Transform(images[n], &one);
  }
}

template <typename Dtype>
void DataTransformer<Dtype>::Transform(const vector<Datum>& datum_vector,
                                       Blob<Dtype>* transformed_blob) {
  TransformBatch(datum_vector, transformed_blob);
}

template <typename Dtype>
void DataTransformer<Dtype>::Transform(const vector<cv::Mat>& mat_vector,
                                       Blob<Dtype>* transformed_blob) {
  TransformBatch(mat_vector, transformed_blob);
}

template <typename Dtype>
vector<int> DataTransformer<Dtype>::InferBlobShape(const Datum& datum) {
  return datum.encoded() ? InferBlobShape(Decode(datum))
                         : TransformedShape(SizeOf(datum));
}

template <typename Dtype>
vector<int> DataTransformer<Dtype>::InferBlobShape(const cv::Mat& cv_img) {
  return TransformedShape(SizeOf(cv_img));
}

template <typename Dtype>
template <typename Image>
vector<int> DataTransformer<Dtype>::InferBatchShape(
    const vector<Image>& images) {
  Require(!images.empty(), "there are no images to transform");
  vector<int> shape = InferBlobShape(images[0]);
  shape[0] = static_cast<int>(images.size());
  return shape;
}

template <typename Dtype>
vector<int> DataTransformer<Dtype>::InferBlobShape(
    const vector<Datum>& datum_vector) {
  return InferBatchShape(datum_vector);
}

template <typename Dtype>
vector<int> DataTransformer<Dtype>::InferBlobShape(
    const vector<cv::Mat>& mat_vector) {
  return InferBatchShape(mat_vector);
}

INSTANTIATE_CLASS(DataTransformer);

}  // namespace caffe
