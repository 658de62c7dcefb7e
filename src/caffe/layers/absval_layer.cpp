#include "caffe/layers/absval_layer.hpp"

#include "cpu/piecewise.hpp"

namespace caffe {

template <typename Dtype>
void AbsValLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: backward needs the signs of its bottom");
}

template <typename Dtype>
void AbsValLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& top) {
  caffe_abs(bottom[0]->count(), bottom[0]->cpu_data(),
            top[0]->mutable_cpu_data());
}

template <typename Dtype>
void AbsValLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                      const vector<bool>& propagate_down,
                                      const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::AbsoluteBackward(top[0]->count(), bottom[0]->cpu_data(),
                        top[0]->cpu_data(), top[0]->cpu_diff(),
                        bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(AbsValLayer);
REGISTER_LAYER_CLASS(AbsVal);

}  // namespace caffe
