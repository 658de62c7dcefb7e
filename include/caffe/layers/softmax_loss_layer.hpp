#ifndef CAFFE_SOFTMAX_WITH_LOSS_LAYER_HPP_
#define CAFFE_SOFTMAX_WITH_LOSS_LAYER_HPP_

#include <vector>

#include "caffe/layers/loss_layer.hpp"

namespace caffe {

// The mean of -log(softmax(scores)[label]); one label for every position of
// the scores without the class axis (softmax_param.axis). loss_param says
// which label to ignore and what to divide by. A second top, if there is one,
// gets the probabilities.
template <typename Dtype>
class SoftmaxWithLossLayer : public LossLayer<Dtype> {
 public:
  using LossLayer<Dtype>::LossLayer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "SoftmaxWithLoss"; }
  int ExactNumTopBlobs() const override { return -1; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }
  // The labels, and the probabilities, which a second top shares.
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

  // What the sum of losses is divided by, at least 1: a batch without any
  // valid label has loss 0. A valid_count of -1 stands for all positions.
  virtual Dtype get_normalizer(
      LossParameter_NormalizationMode normalization_mode, int valid_count);

  shared_ptr<Layer<Dtype>> softmax_layer_;
  Blob<Dtype> prob_;
  vector<Blob<Dtype>*> softmax_bottom_vec_;
  vector<Blob<Dtype>*> softmax_top_vec_;
  bool has_ignore_label_ = false;
  int ignore_label_ = 0;
  LossParameter_NormalizationMode normalization_ = LossParameter::VALID;
  int softmax_axis_ = 0;
  int outer_num_ = 0;
  int inner_num_ = 0;

 private:
  // The labels as integers; ignored ones are negative.
  vector<int> Labels(const Blob<Dtype>& blob) const;
  Dtype Normalizer(const vector<int>& labels);
};

}  // namespace caffe

#endif  // CAFFE_SOFTMAX_WITH_LOSS_LAYER_HPP_
