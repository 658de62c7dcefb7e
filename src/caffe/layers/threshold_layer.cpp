#include "caffe/layers/threshold_layer.hpp"

#include "cpu/piecewise.hpp"

namespace caffe {

template <typename Dtype>
void ThresholdLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                       const vector<Blob<Dtype>*>& /*top*/) {
  threshold_ = this->layer_param_.threshold_param().threshold();
}

template <typename Dtype>
void ThresholdLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                        const vector<Blob<Dtype>*>& top) {
  cpu::Threshold(bottom[0]->count(), threshold_, bottom[0]->cpu_data(),
                 top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ThresholdLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& /*top*/, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& /*bottom*/) {
  Require(!propagate_down[0], "a threshold has no gradient");
}

INSTANTIATE_CLASS(ThresholdLayer);
REGISTER_LAYER_CLASS(Threshold);

}  // namespace caffe
