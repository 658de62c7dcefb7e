#ifndef CAFFE_INFOGAIN_LOSS_LAYER_HPP_
#define CAFFE_INFOGAIN_LOSS_LAYER_HPP_

#include <vector>

#include "caffe/layers/loss_layer.hpp"

namespace caffe {

// A cross entropy in which every label counts for several classes: the mean of
// -H[label][c] * log(p[c]), summed over the classes c, where p is the softmax
// of the scores (bottom 0) along infogain_loss_param.axis, and bottom 1 has a
// label for every position without that axis. The matrix H has a row for each
// label; it is bottom 2 or, if there is none, read from
// infogain_loss_param.source, a BlobProto. With the identity for H this is
// SoftmaxWithLoss.
//
// loss_param says which label to ignore and what to divide by. A second top, if
// there is one, gets the probabilities. Backward reads them, the labels and H.
template <typename Dtype>
class InfogainLossLayer : public LossLayer<Dtype> {
 public:
  using LossLayer<Dtype>::LossLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "InfogainLoss"; }
  int ExactNumBottomBlobs() const override { return -1; }
  int MinBottomBlobs() const override { return 2; }
  int MaxBottomBlobs() const override { return 3; }
  int ExactNumTopBlobs() const override { return -1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }
  // Neither labels nor H have gradients.
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index == 0;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of({BackwardRead::kNothing, BackwardRead::kExact},
                             {BackwardRead::kNothing, BackwardRead::kExact});
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // What the sum of losses is divided by, at least 1. A valid_count of -1
  // stands for all positions.
  virtual Dtype get_normalizer(
      LossParameter_NormalizationMode normalization_mode, int valid_count);

  // The probabilities, shared with a second top.
  Blob<Dtype> prob_;
  // H, when it is not a bottom.
  Blob<Dtype> infogain_;
  bool has_ignore_label_ = false;
  int ignore_label_ = 0;
  LossParameter_NormalizationMode normalization_ = LossParameter::VALID;
  int infogain_axis_ = 0;
  int outer_num_ = 0;
  int inner_num_ = 0;
  int num_labels_ = 0;

 private:
  const Blob<Dtype>& GainsOf(const vector<Blob<Dtype>*>& bottom) const {
    return bottom.size() > 2 ? *bottom[2] : infogain_;
  }
  // The labels as integers; ignored ones are negative.
  vector<int> Labels(const Blob<Dtype>& blob) const;
  Dtype NormalizerFor(const vector<int>& labels);
};

}  // namespace caffe

#endif  // CAFFE_INFOGAIN_LOSS_LAYER_HPP_
