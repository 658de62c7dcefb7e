#include "caffe/layers/input_layer.hpp"

#include <vector>

namespace caffe {

template <typename Dtype>
void InputLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                   const vector<Blob<Dtype>*>& top) {
  const InputParameter& param = this->layer_param_.input_param();
  const int num_shape = param.shape_size();
  const int num_top = static_cast<int>(top.size());
  Require(num_shape == 0 || num_shape == 1 || num_shape == num_top,
          "input_param has ", num_shape, " shapes for ", num_top,
          " tops; give none, one for all, or one for each top");
  if (num_shape == 0) return;
  for (int i = 0; i < num_top; ++i) {
    top[i]->Reshape(param.shape(num_shape == 1 ? 0 : i));
  }
}

INSTANTIATE_CLASS(InputLayer);
REGISTER_LAYER_CLASS(Input);

}  // namespace caffe
