#ifndef CAFFE_INNER_PRODUCT_LAYER_HPP_
#define CAFFE_INNER_PRODUCT_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct InnerProductShape;
}

// A fully connected layer: the axes from inner_product_param.axis on are one
// vector of inputs, and every output is its product with a row of the weights
// (a column, with transpose) plus a bias.
template <typename Dtype>
class InnerProductLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "InnerProduct"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::OfBottoms(this->param_propagate_down(0)
                                        ? BackwardRead::kValues
                                        : BackwardRead::kNothing);
  }
  bool has_row_gradients(const int param_id) const override;
  void AddRowGradients(const int param_id, const vector<Blob<Dtype>*>& top,
                       const vector<Blob<Dtype>*>& bottom, int first, int rows,
                       Dtype* diff) override;

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Vectors in the batch, inputs and outputs of each.
  int M_ = 0;
  int K_ = 0;
  int N_ = 0;
  bool bias_term_ = false;
  // M_ ones, for layers that derive from this one.
  Blob<Dtype> bias_multiplier_;
  // Whether the weights are (inputs, outputs) instead of (outputs, inputs).
  bool transpose_ = false;

 private:
  cpu::InnerProductShape Shape() const;
};

}  // namespace caffe

#endif  // CAFFE_INNER_PRODUCT_LAYER_HPP_
