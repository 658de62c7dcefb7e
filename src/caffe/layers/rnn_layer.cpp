#include "caffe/layers/rnn_layer.hpp"

#include "layers/unrolling.hpp"

namespace caffe {

template <typename Dtype>
void RNNLayer<Dtype>::RecurrentInputBlobNames(vector<string>* names) const {
  *names = {"h_0"};
}

template <typename Dtype>
void RNNLayer<Dtype>::RecurrentOutputBlobNames(vector<string>* names) const {
  *names = {AtStep("h", this->T_)};
}

template <typename Dtype>
void RNNLayer<Dtype>::RecurrentInputShapes(vector<BlobShape>* shapes) const {
  const uint32_t outputs = this->layer_param_.recurrent_param().num_output();
  shapes->assign(1, StateShape(this->N_, outputs));
}

template <typename Dtype>
void RNNLayer<Dtype>::OutputBlobNames(vector<string>* names) const {
  *names = {"o"};
}

template <typename Dtype>
void RNNLayer<Dtype>::FillUnrolledNet(NetParameter* net_param) const {
  const RecurrentParameter& param = this->layer_param_.recurrent_param();
  Require(param.num_output() > 0 && param.num_output() <= INT_MAX,
          "num_output must be from 1 to ", INT_MAX, ", not ",
          param.num_output());
  const int outputs = static_cast<int>(param.num_output());
  Unrolling net(param, this->T_, this->static_input_, net_param);
  vector<BlobShape> shapes;
  RecurrentInputShapes(&shapes);
  net.AddStates({"h_0"}, shapes);
  net.AddInputs("W_xh", "b_h", outputs);
  for (int t = 1; t <= this->T_; ++t) {
    const string from_h = AtStep("W_hh_h", t - 1);
    const string h_input = AtStep("h_neuron_input", t);
    const string o_input = AtStep("W_ho_h", t);
    net.AddProduct(AtStep("transform", t), {"W_hh"}, outputs, 2,
                   net.AddContinued(t), from_h);
    net.AddSum("W_xh", t, from_h, h_input);
    net.Add("TanH", AtStep("h_neuron", t), {h_input}, {AtStep("h", t)});
    net.AddProduct(AtStep("output_transform", t), {"W_ho", "b_o"}, outputs, 2,
                   AtStep("h", t), o_input);
    net.Add("TanH", AtStep("o_neuron", t), {o_input}, {AtStep("o", t)});
  }
  net.AddConcat("o");
}

INSTANTIATE_CLASS(RNNLayer);
REGISTER_LAYER_CLASS(RNN);

}  // namespace caffe
