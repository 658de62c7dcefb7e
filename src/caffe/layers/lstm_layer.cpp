#include "caffe/layers/lstm_layer.hpp"

#include "layers/unrolling.hpp"

namespace caffe {

template <typename Dtype>
void LSTMLayer<Dtype>::RecurrentInputBlobNames(vector<string>* names) const {
  *names = {"h_0", "c_0"};
}

template <typename Dtype>
void LSTMLayer<Dtype>::RecurrentOutputBlobNames(vector<string>* names) const {
  *names = {AtStep("h", this->T_), "c_T"};
}

template <typename Dtype>
void LSTMLayer<Dtype>::RecurrentInputShapes(vector<BlobShape>* shapes) const {
  const uint32_t cells = this->layer_param_.recurrent_param().num_output();
  shapes->assign(2, StateShape(this->N_, cells));
}

template <typename Dtype>
void LSTMLayer<Dtype>::OutputBlobNames(vector<string>* names) const {
  *names = {"h"};
}

template <typename Dtype>
void LSTMLayer<Dtype>::FillUnrolledNet(NetParameter* net_param) const {
  const RecurrentParameter& param = this->layer_param_.recurrent_param();
  constexpr uint32_t kMostCells = INT_MAX / 4;
  Require(param.num_output() > 0 && param.num_output() <= kMostCells,
          "num_output must be from 1 to ", kMostCells, ", not ",
          param.num_output());
  const int gates = 4 * static_cast<int>(param.num_output());
  Unrolling net(param, this->T_, this->static_input_, net_param);
  vector<BlobShape> shapes;
  RecurrentInputShapes(&shapes);
  net.AddStates({"c_0", "h_0"}, shapes);
  net.AddInputs("W_xc", "b_c", gates);
  for (int t = 1; t <= this->T_; ++t) {
    const string from_h = AtStep("W_hc_h", t - 1);
    const string gate_input = AtStep("gate_input", t);
    net.AddProduct(AtStep("transform", t), {"W_hc"}, gates, 2,
                   net.AddContinued(t), from_h);
    net.AddSum("W_xc", t, from_h, gate_input);
    net.Add("LSTMUnit", AtStep("unit", t),
            {AtStep("c", t - 1), gate_input, AtStep("cont", t)},
            {AtStep("c", t), AtStep("h", t)});
  }
  net.Add("Split", "c_T_copy", {AtStep("c", this->T_)}, {"c_T"});
  net.AddConcat("h");
}

INSTANTIATE_CLASS(LSTMLayer);
REGISTER_LAYER_CLASS(LSTM);

}  // namespace caffe
