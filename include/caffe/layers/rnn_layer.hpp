#ifndef CAFFE_RNN_LAYER_HPP_
#define CAFFE_RNN_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/layers/recurrent_layer.hpp"

namespace caffe {

// A simple recurrent net. Bottoms are x, (T, N, ...), T time steps of N
// streams; cont, (T, N), 0 where a sequence begins and 1 where it goes on; and
// perhaps x_static, (N, ...), which is the same at all steps. With
// D = recurrent_param.num_output, at every step t:
//
//   h_t = tanh(W_xh x_t + b_h + W_hh (cont_t h_{t-1}) [+ W_xh_static x_static])
//   o_t = tanh(W_ho h_t + b_o)
//
// The top is o, (T, N, D). A batch goes on where the one before ended; with
// recurrent_param.expose_hidden, h before the first step is a bottom instead,
// behind the others, and that after the last is a top, (1, N, D) each.
//
// Parameters: W_xh (D, values of x_t), b_h (D), W_xh_static (D, values of
// x_static) if there is a static input, W_hh (D, D), W_ho (D, D), b_o (D).
// Backward reads what the layers of the steps read, which it keeps.
template <typename Dtype>
class RNNLayer : public RecurrentLayer<Dtype> {
 public:
  using RecurrentLayer<Dtype>::RecurrentLayer;
  const char* type() const override { return "RNN"; }

 protected:
  void FillUnrolledNet(NetParameter* net_param) const override;
  void RecurrentInputBlobNames(vector<string>* names) const override;
  void RecurrentInputShapes(vector<BlobShape>* shapes) const override;
  void RecurrentOutputBlobNames(vector<string>* names) const override;
  void OutputBlobNames(vector<string>* names) const override;
};

}  // namespace caffe

#endif  // CAFFE_RNN_LAYER_HPP_
