#include "caffe/filler.hpp"

#include "caffe/util/math_functions.hpp"

namespace caffe {

namespace {

void RequireDense(const FillerParameter& param) {
  Require(param.sparse() == -1, "filler '", param.type(),
          "' does not support sparse");
}

// The n of Xavier and MSRA filling: how many values meet in one output, or go
// out from one input.
template <typename Dtype>
Dtype Fan(const Blob<Dtype>& blob, const FillerParameter& param) {
  const int axes = blob.num_axes();
  const Dtype fan_in = axes > 0 ? blob.count() / blob.shape(0) : 1;
  // Matrices count their first axis as outputs; kernels their second.
  const Dtype fan_out = axes > 1 ? blob.count() / blob.shape(1) : blob.count();
  switch (param.variance_norm()) {
    case FillerParameter::FAN_OUT:
      return fan_out;
    case FillerParameter::AVERAGE:
      return (fan_in + fan_out) / Dtype(2);
    default:
      return fan_in;
  }
}

template <typename Dtype, template <typename> class FillerType>
Filler<Dtype>* Make(const FillerParameter& param) {
  return new FillerType<Dtype>(param);
}

}  // namespace

template <typename Dtype>
void ConstantFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  caffe_set<Dtype>(blob->count(), this->filler_param_.value(),
                   blob->mutable_cpu_data());
}

template <typename Dtype>
void UniformFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  caffe_rng_uniform<Dtype>(blob->count(), this->filler_param_.min(),
                           this->filler_param_.max(), blob->mutable_cpu_data());
}

template <typename Dtype>
void GaussianFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  Dtype* const data = blob->mutable_cpu_data();
  caffe_rng_gaussian<Dtype>(blob->count(), this->filler_param_.mean(),
                            this->filler_param_.std(), data);
  const int sparse = this->filler_param_.sparse();
  Require(sparse >= -1, "a gaussian filler cannot keep ", sparse,
          " values an output");
  if (sparse < 0) return;
  Require(blob->num_axes() >= 1, "a sparse filler needs a blob with axes");
  const int outputs = blob->shape(0);
  const Dtype keep = Dtype(sparse) / Dtype(outputs);
  rand_vec_.reset(new SyncedMemory(blob->count() * sizeof(int)));
  int* const mask = static_cast<int*>(rand_vec_->mutable_cpu_data());
  caffe_rng_bernoulli(blob->count(), keep, mask);
  for (int i = 0; i < blob->count(); ++i) data[i] *= mask[i];
}

template <typename Dtype>
void PositiveUnitballFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  Require(blob->count() > 0 && blob->num_axes() > 0,
          "filler 'positive_unitball' needs a blob with values");
  Dtype* const data = blob->mutable_cpu_data();
  caffe_rng_uniform<Dtype>(blob->count(), 0, 1, data);
  const int outputs = blob->shape(0);
  const int inputs = blob->count() / outputs;
  for (int i = 0; i < outputs; ++i) {
    Dtype* const row = data + i * inputs;
    caffe_scal<Dtype>(inputs, 1 / caffe_cpu_asum(inputs, row), row);
  }
}

template <typename Dtype>
void XavierFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  // A uniform distribution on +-s has variance s^2 / 3.
  const Dtype reach = std::sqrt(Dtype(3) / Fan(*blob, this->filler_param_));
  caffe_rng_uniform<Dtype>(blob->count(), -reach, reach,
                           blob->mutable_cpu_data());
}

template <typename Dtype>
void MSRAFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  const Dtype std = std::sqrt(Dtype(2) / Fan(*blob, this->filler_param_));
  caffe_rng_gaussian<Dtype>(blob->count(), 0, std, blob->mutable_cpu_data());
}

template <typename Dtype>
void BilinearFiller<Dtype>::Fill(Blob<Dtype>* blob) {
  RequireDense(this->filler_param_);
  Require(blob->num_axes() == 4 && blob->width() == blob->height(),
          "filler 'bilinear' needs square kernels of 4 axes, not ",
          blob->shape_string());
  const int side = blob->width();
  const Dtype upsampling = std::ceil(side / Dtype(2));
  const Dtype center = (side - 1) / (2 * upsampling);
  const auto weight = [&](int at) {
    return 1 - std::fabs(at / upsampling - center);
  };
  Dtype* const data = blob->mutable_cpu_data();
  for (int i = 0; i < blob->count(); ++i) {
    data[i] = weight(i % side) * weight(i / side % side);
  }
}

template <typename Dtype>
Filler<Dtype>* GetFiller(const FillerParameter& param) {
  static const std::map<string, Filler<Dtype>* (*)(const FillerParameter&)>
      kFillers = {
          {"constant", Make<Dtype, ConstantFiller>},
          {"gaussian", Make<Dtype, GaussianFiller>},
          {"positive_unitball", Make<Dtype, PositiveUnitballFiller>},
          {"uniform", Make<Dtype, UniformFiller>},
          {"xavier", Make<Dtype, XavierFiller>},
          {"msra", Make<Dtype, MSRAFiller>},
          {"bilinear", Make<Dtype, BilinearFiller>},
      };
  const auto found = kFillers.find(param.type());
  Require(found != kFillers.end(), "unknown filler type '", param.type(), "'");
  return found->second(param);
}

template Filler<float>* GetFiller(const FillerParameter&);
template Filler<double>* GetFiller(const FillerParameter&);

INSTANTIATE_CLASS(ConstantFiller);
INSTANTIATE_CLASS(UniformFiller);
INSTANTIATE_CLASS(GaussianFiller);
INSTANTIATE_CLASS(PositiveUnitballFiller);
INSTANTIATE_CLASS(XavierFiller);
INSTANTIATE_CLASS(MSRAFiller);
INSTANTIATE_CLASS(BilinearFiller);

}  // namespace caffe
