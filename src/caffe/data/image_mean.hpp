#ifndef CAFFE_SRC_DATA_IMAGE_MEAN_HPP_
#define CAFFE_SRC_DATA_IMAGE_MEAN_HPP_

#include <vector>

#include "caffe/blob.hpp"
#include "caffe/util/io.hpp"
#include "cpu/image.hpp"

// The mean that transform_param says to subtract: an image (mean_file), values
// for the channels (mean_value), or nothing.

namespace caffe {

// Reads the mean into `image` or `values`, and leaves the other empty. Throws
// Error when the settings give both, or the file is not one image.
template <typename Dtype>
void ReadMean(const TransformationParameter& param, Blob<Dtype>* image,
              vector<Dtype>* values) {
  values->assign(param.mean_value().begin(), param.mean_value().end());
  if (!param.has_mean_file()) return;
  Require(values->empty(),
          "transform_param has both mean_file and mean_value; give one");
  BlobProto mean;
  ReadProtoFromBinaryFileOrDie(param.mean_file(), &mean);
  try {
    image->FromProto(mean);
    Require(image->num_axes() <= 4 && image->num() == 1, "shape ",
            image->shape_string(), " is not that of one image");
  } catch (const Error& error) {
    Fail("mean file '", param.mean_file(), "': ", error.what());
  }
}

// Throws Error unless there is no value, one, or one for each channel.
template <typename Dtype>
void CheckMeanValues(const vector<Dtype>& values, int channels) {
  if (values.size() <= 1) return;
  if (values.size() == static_cast<size_t>(channels)) return;
  Fail("transform_param has ", values.size(), " mean_values for an image of ",
       channels, " channel(s); give one, or one for each channel");
}

// The mean for every value of an image.
template <typename Dtype>
cpu::ImageView<const Dtype> MeanView(const Blob<Dtype>& image,
                                     const vector<Dtype>& values) {
  static constexpr Dtype kZero = 0;
  if (!values.empty()) return {values.data(), values.size() > 1 ? 1 : 0};
  if (image.count() == 0) return {&kZero};
  return cpu::Planar(image.cpu_data(), image.height(), image.width());
}

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_IMAGE_MEAN_HPP_
