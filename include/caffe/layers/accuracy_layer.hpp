#ifndef CAFFE_ACCURACY_LAYER_HPP_
#define CAFFE_ACCURACY_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// The share of positions where the label's score is among the
// accuracy_param.top_k best ones; scores along accuracy_param.axis, one label
// for each position of the other axes. A score that equals the label's counts
// as better. A second top, if there is one, gets the share for every class by
// itself. Has no gradient.
template <typename Dtype>
class AccuracyLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Accuracy"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int MinTopBlobs() const override { return 1; }
  int MaxTopBlobs() const override { return 2; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  int label_axis_ = 0;
  int outer_num_ = 0;
  int inner_num_ = 0;
  int top_k_ = 1;
  bool has_ignore_label_ = false;
  int ignore_label_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_ACCURACY_LAYER_HPP_
