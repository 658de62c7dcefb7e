#ifndef CAFFE_INPUT_LAYER_HPP_
#define CAFFE_INPUT_LAYER_HPP_

#include <vector>

#include "caffe/blob.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Tops that the user of the net fills: the net's inputs. input_param gives one
// shape for all tops or one for each; without any, the user shapes them too.
// They are the user's: what was filled in stays, so backward_reads says
// nothing.
template <typename Dtype>
class InputLayer : public Layer<Dtype> {
 public:
  explicit InputLayer(const LayerParameter& param) : Layer<Dtype>(param) {}

  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& /*top*/) override {}

  const char* type() const override { return "Input"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int MinTopBlobs() const override { return 1; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}
};

}  // namespace caffe

#endif  // CAFFE_INPUT_LAYER_HPP_
