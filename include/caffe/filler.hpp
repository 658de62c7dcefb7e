#ifndef CAFFE_FILLER_HPP
#define CAFFE_FILLER_HPP

#include <string>

#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Gives a parameter blob its first values.
template <typename Dtype>
class Filler {
 public:
  explicit Filler(const FillerParameter& param) : filler_param_(param) {}
  virtual ~Filler() = default;
  virtual void Fill(Blob<Dtype>* blob) = 0;

 protected:
  FillerParameter filler_param_;
};

// All values the same: `value`.
template <typename Dtype>
class ConstantFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// Uniform from `min` to `max`.
template <typename Dtype>
class UniformFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// Normal with `mean` and `std`; with `sparse`, each output keeps on average so
// many non-zero inputs.
template <typename Dtype>
class GaussianFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;

 protected:
  shared_ptr<SyncedMemory> rand_vec_;
};

// Positive values; those of one output sum to 1.
template <typename Dtype>
class PositiveUnitballFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// Glorot and Bengio: uniform with variance 1 / n, where n is the fan in, the
// fan out or their mean (`variance_norm`).
template <typename Dtype>
class XavierFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// He et al.: normal with variance 2 / n, n as in XavierFiller.
template <typename Dtype>
class MSRAFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// Bilinear interpolation, for upsampling by a Deconvolution with square
// kernels.
template <typename Dtype>
class BilinearFiller : public Filler<Dtype> {
 public:
  using Filler<Dtype>::Filler;
  void Fill(Blob<Dtype>* blob) override;
};

// A new filler of param.type(); the caller owns it. Throws Error for a type
// that does not exist.
template <typename Dtype>
Filler<Dtype>* GetFiller(const FillerParameter& param);

}  // namespace caffe

#endif  // CAFFE_FILLER_HPP
