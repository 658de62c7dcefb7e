#ifndef CAFFE_POOLING_LAYER_HPP_
#define CAFFE_POOLING_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct PoolingShape;
}

// Makes images smaller: every output is the maximum (MAX), the average (AVE) or
// a random choice (STOCHASTIC) of the inputs that a window covers, as
// pooling_param.pool says. As many windows as reach into the image, so that the
// last may reach beyond it (round_mode: CEIL), or only those that lie within
// (FLOOR). With global_pooling the window is the whole image.
//
// A second top of MAX, if there is one, gets the index of each maximum in its
// image and channel. Backward reads neither bottom nor top.
template <typename Dtype>
class PoolingLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Pooling"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override {
    const PoolingParameter& param = this->layer_param_.pooling_param();
    return param.pool() == PoolingParameter::MAX ? 2 : 1;
  }
  BackwardReads backward_reads() const override;
  // STOCHASTIC draws in the order of the images.
  bool works_per_image() const override {
    return this->layer_param_.pooling_param().pool() !=
           PoolingParameter::STOCHASTIC;
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int kernel_h_ = 0, kernel_w_ = 0;
  int stride_h_ = 1, stride_w_ = 1;
  int pad_h_ = 0, pad_w_ = 0;
  int channels_ = 0;
  int height_ = 0, width_ = 0;
  int pooled_height_ = 0, pooled_width_ = 0;
  bool global_pooling_ = false;
  PoolingParameter_RoundMode round_mode_ = PoolingParameter::CEIL;
  // The indices of the inputs that STOCHASTIC chose.
  Blob<Dtype> rand_idx_;
  // The places of maxima in their windows, one byte each where that is enough,
  // and an int otherwise.
  shared_ptr<SyncedMemory> max_idx_;

 private:
  void SetKernel(const PoolingParameter& param);
  int PooledExtent(const char* axis, int extent, int kernel, int stride,
                   int pad) const;
  cpu::PoolingShape Shape(const Blob<Dtype>& bottom) const;
  bool HasBytePositions() const;
  // Calls work with max_idx_ as an array of the type that it has.
  template <typename Work>
  void WithPositions(const Work& work);
};

}  // namespace caffe

#endif  // CAFFE_POOLING_LAYER_HPP_
