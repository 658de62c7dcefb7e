#ifndef CAFFE_MVN_LAYER_HPP_
#define CAFFE_MVN_LAYER_HPP_

#include <vector>

#include "caffe/kept_values.hpp"
#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct ChannelLayout;
}

// Gives every channel of every image, or every image with
// mvn_param.across_channels, mean 0 and, with mvn_param.normalize_variance,
// variance 1: (x - mean) / (deviation + mvn_param.eps). The top has the shape
// of the bottom, (N, C, ...).
//
// Backward reads the bottom, or in place a copy of it, and the statistics. It
// takes eps for a constant beside the deviation, as Caffe does. Without
// normalize_variance it reads nothing.
template <typename Dtype>
class MVNLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "MVN"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Of the last Forward; variance_ then holds what the values were divided by.
  Blob<Dtype> mean_;
  Blob<Dtype> variance_;

 private:
  // Every group of values that is normalized by itself is a channel.
  cpu::ChannelLayout Groups(const Blob<Dtype>& blob) const;
  // out = in - the mean of its group.
  void SubtractMean(const cpu::ChannelLayout& groups, const Dtype* in,
                    Dtype* out);

  bool normalize_variance_ = true;
  KeptBottom<Dtype> kept_bottom_;
};

}  // namespace caffe

#endif  // CAFFE_MVN_LAYER_HPP_
