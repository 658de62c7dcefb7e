#ifndef CAFFE_DATA_TRANSFORMER_HPP
#define CAFFE_DATA_TRANSFORMER_HPP

#include <string>
#include <vector>

#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

namespace cpu {
struct ImageSize;
template <typename T>
struct ImageView;
}  // namespace cpu

// The part of an image that goes into a blob.
struct CropWindow {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;
  bool mirrored = false;
};

// Turns images into input blobs as transform_param says: crops (anywhere in
// TRAIN, from the centre in TEST), mirrors half of them at random, subtracts a
// mean image or one mean value a channel, and scales:
//
//   blob = (image - mean) * scale
//
// Images are datums (raw bytes, floats or encoded files), OpenCV matrices or
// blobs. Every method throws Error when an image, or the blob to write to, does
// not fit; images come from data sets, so all of them are checked. Belongs to
// one thread at a time.
template <typename Dtype>
class DataTransformer {
 public:
  // Reads the mean file, if there is one.
  explicit DataTransformer(const TransformationParameter& param, Phase phase);
  virtual ~DataTransformer() = default;

  // Seeds the random choices from the calling thread's generator. To be called
  // once before the first Transform.
  void InitRand();

  // Write one image to a blob of the shape that InferBlobShape gives.
  void Transform(const Datum& datum, Blob<Dtype>* transformed_blob);
  void Transform(const cv::Mat& cv_img, Blob<Dtype>* transformed_blob);

  // Write as many images as there are to a blob that may have room for more.
  void Transform(const vector<Datum>& datum_vector,
                 Blob<Dtype>* transformed_blob);
  void Transform(const vector<cv::Mat>& mat_vector,
                 Blob<Dtype>* transformed_blob);

  // Crops and mirrors all images of the input alike. Shapes the transformed
  // blob when it is empty.
  void Transform(Blob<Dtype>* input_blob, Blob<Dtype>* transformed_blob);

  // Transform in two steps, for images of bytes, which is what they take in
  // between: Cut chooses a window of the image and writes its bytes, channel
  // after channel; Finish makes of them what Transform would have written. The
  // blob, of any number of images, gives the shape. Finish may be called on any
  // thread.
  static bool IsOfBytes(const Datum& datum);
  static bool IsOfBytes(const cv::Mat& /*cv_img*/) { return true; }
  CropWindow Cut(const Datum& datum, const Blob<Dtype>& shape, uint8_t* bytes);
  CropWindow Cut(const cv::Mat& cv_img, const Blob<Dtype>& shape,
                 uint8_t* bytes);
  void Finish(int channels, const uint8_t* bytes, const CropWindow& window,
              Dtype* values) const;

  // The shape of transformed images; of all of a vector, given its first.
  vector<int> InferBlobShape(const Datum& datum);
  vector<int> InferBlobShape(const vector<Datum>& datum_vector);
  vector<int> InferBlobShape(const cv::Mat& cv_img);
  vector<int> InferBlobShape(const vector<cv::Mat>& mat_vector);

  // The state of the random choices, for exact resumes; empty when the
  // settings leave nothing to chance.
  string SaveState() const;
  // Throws Error when the state is not one that SaveState gave for the same
  // settings.
  void RestoreState(const string& state);

 protected:
  // A number in [0, n).
  virtual int Rand(int n);

  TransformationParameter param_;
  shared_ptr<Caffe::RNG> rng_;
  Phase phase_;
  Blob<Dtype> data_mean_;
  vector<Dtype> mean_values_;

 private:
  bool NeedsRand() const;
  // The shape of a transformed image of that size. Throws Error when crop or
  // mean do not fit.
  vector<int> TransformedShape(const cpu::ImageSize& size) const;
  // Draws whether to mirror and where to crop an image of that size, which is
  // to be written to that blob.
  CropWindow DrawWindow(const cpu::ImageSize& size, const Blob<Dtype>& target);
  // Writes what is in the window of an image.
  template <typename Pixel>
  void Write(int channels, const cpu::ImageView<const Pixel>& content,
             const CropWindow& window, Dtype* target) const;
  cv::Mat Decode(const Datum& datum) const;
  template <typename Image>
  vector<int> InferBatchShape(const vector<Image>& images);
  template <typename Image>
  void TransformBatch(const vector<Image>& images,
                      Blob<Dtype>* transformed_blob);

  DISABLE_COPY_AND_ASSIGN(DataTransformer);
};

}  // namespace caffe

#endif  // CAFFE_DATA_TRANSFORMER_HPP
