#include "caffe/layers/relu_layer.hpp"

#include "cpu/relu.hpp"

namespace caffe {

template <typename Dtype>
void ReLULayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  const float slope = this->layer_param_.relu_param().negative_slope();
  Require(slope >= 0 || top[0] != bottom[0],
          "cannot work in place with the negative_slope ", slope,
          ": backward needs the signs of its bottom");
}

template <typename Dtype>
BackwardReads ReLULayer<Dtype>::backward_reads() const {
  const float slope = this->layer_param_.relu_param().negative_slope();
  if (slope < 0) return BackwardReads::OfBottoms(BackwardRead::kSign);
  return BackwardReads::Of(
      {BackwardRead::kNothing},
      {slope == 0 ? BackwardRead::kNonZero : BackwardRead::kSign});
}

template <typename Dtype>
void ReLULayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  const Dtype slope = this->layer_param_.relu_param().negative_slope();
  cpu::Relu(bottom[0]->count(), slope, bottom[0]->cpu_data(),
            top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ReLULayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const Dtype slope = this->layer_param_.relu_param().negative_slope();
  const Blob<Dtype>& signs = slope >= 0 ? *top[0] : *bottom[0];
  cpu::ReluBackward(top[0]->count(), slope, signs.cpu_data(),
                    top[0]->cpu_diff(), bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ReLULayer);
REGISTER_LAYER_CLASS(ReLU);

}  // namespace caffe
