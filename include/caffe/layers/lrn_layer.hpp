#ifndef CAFFE_LRN_LAYER_HPP_
#define CAFFE_LRN_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct LrnShape;
template <typename Dtype>
struct LrnSettings;
}  // namespace cpu

// Local response normalization: y = x / (k + alpha * mean)^beta, where the mean
// of squares is taken over lrn_param.local_size neighbouring channels
// (norm_region: ACROSS_CHANNELS), or over as many rows and columns of the same
// channel (WITHIN_CHANNEL; k is then always 1). What a window has beyond the
// blob counts as zeros.
//
// Backward reads the bottom only.
template <typename Dtype>
class LRNLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "LRN"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(BackwardRead::kValues);
  }
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int size_ = 0;
  Dtype alpha_ = 0;
  Dtype beta_ = 0;
  Dtype k_ = 0;
  int num_ = 0;
  int channels_ = 0;
  int height_ = 0;
  int width_ = 0;

 private:
  bool IsAcrossChannels() const;
  cpu::LrnShape Shape() const;
  cpu::LrnSettings<Dtype> Settings() const;
};

}  // namespace caffe

#endif  // CAFFE_LRN_LAYER_HPP_
