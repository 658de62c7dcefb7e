#ifndef CAFFE_LSTM_LAYER_HPP_
#define CAFFE_LSTM_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/layer.hpp"
#include "caffe/layers/recurrent_layer.hpp"

namespace caffe {

// Long short-term memory. Bottoms are x, (T, N, ...), T time steps of N
// streams; cont, (T, N), 0 where a sequence begins and 1 where it goes on; and
// perhaps x_static, (N, ...), which is the same at all steps. With
// D = recurrent_param.num_output cells a stream, at every step t:
//
//   i, f, o, g = W_xc x_t + b_c + W_hc (cont_t h_{t-1})
//                [+ W_xc_static x_static]
//   c_t = cont_t sigmoid(f) c_{t-1} + sigmoid(i) tanh(g)
//   h_t = sigmoid(o) tanh(c_t)
//
// The top is h, (T, N, D). A batch goes on where the one before ended; with
// recurrent_param.expose_hidden, h and c before the first step are bottoms
// instead, behind the others, and those after the last are tops; each is
// (1, N, D).
//
// Parameters: W_xc (4D, values of x_t), b_c (4D), W_xc_static (4D, values of
// x_static) if there is a static input, W_hc (4D, D). Backward reads what the
// layers of the steps read, which it keeps.
template <typename Dtype>
class LSTMLayer : public RecurrentLayer<Dtype> {
 public:
  using RecurrentLayer<Dtype>::RecurrentLayer;
  const char* type() const override { return "LSTM"; }

 protected:
  void FillUnrolledNet(NetParameter* net_param) const override;
  void RecurrentInputBlobNames(vector<string>* names) const override;
  void RecurrentInputShapes(vector<BlobShape>* shapes) const override;
  void RecurrentOutputBlobNames(vector<string>* names) const override;
  void OutputBlobNames(vector<string>* names) const override;
};

// One step of LSTM, without its products. Bottoms are c_{t-1}, (1, N, D), the
// sums that i, f, o and g are, (1, N, 4D), and cont_t, (1, N); tops are c_t and
// h_t.
//
// Backward reads the bottoms and computes the rest again.
template <typename Dtype>
class LSTMUnitLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "LSTMUnit"; }
  int ExactNumBottomBlobs() const override { return 3; }
  int ExactNumTopBlobs() const override { return 2; }
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index != 2;
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Of(
        {BackwardRead::kValues, BackwardRead::kValues, BackwardRead::kExact},
        {BackwardRead::kNothing});
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // Cells of a stream.
  int hidden_dim_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_LSTM_LAYER_HPP_
