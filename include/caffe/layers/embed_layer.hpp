#ifndef CAFFE_EMBED_LAYER_HPP_
#define CAFFE_EMBED_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Replaces every value of its bottom, an index below embed_param.input_dim, by
// the row of the weights that has that index, plus a bias: what an InnerProduct
// does with vectors that are 1 there and 0 elsewhere. The top has one more axis
// than the bottom, of embed_param.num_output values; the weights are
// (input_dim, num_output).
//
// Backward reads the indices; they have no gradient.
template <typename Dtype>
class EmbedLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Embed"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  bool AllowForceBackward(const int /*bottom_index*/) const override {
    return false;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(this->param_propagate_down(0)
                                        ? BackwardRead::kExact
                                        : BackwardRead::kNothing);
  }
  bool works_per_image() const override { return true; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Indices in the batch, rows to choose from, values of a row.
  int M_ = 0;
  int K_ = 0;
  int N_ = 0;
  bool bias_term_ = false;
};

}  // namespace caffe

#endif  // CAFFE_EMBED_LAYER_HPP_
