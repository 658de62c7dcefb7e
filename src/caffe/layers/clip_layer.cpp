#include "caffe/layers/clip_layer.hpp"

#include "cpu/mask.hpp"
#include "cpu/piecewise.hpp"

namespace caffe {

template <typename Dtype>
void ClipLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                  const vector<Blob<Dtype>*>& /*top*/) {
  Require(this->layer_param_.has_clip_param(),
          "needs clip_param with min and max");
  const ClipParameter& param = this->layer_param_.clip_param();
  Require(param.min() <= param.max(), "its min, ", param.min(),
          ", must not be above its max, ", param.max());
}

template <typename Dtype>
void ClipLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top) {
  NeuronLayer<Dtype>::Reshape(bottom, top);
  mask_.Reshape(cpu::MaskWords(bottom[0]->count()));
}

template <typename Dtype>
BackwardReads ClipLayer<Dtype>::backward_reads() const {
  BackwardReads reads = BackwardReads::Nothing();
  mask_.AddTo(&reads);
  return reads;
}

template <typename Dtype>
void ClipLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  const ClipParameter& param = this->layer_param_.clip_param();
  const Dtype lowest = param.min();
  const Dtype highest = param.max();
  const int count = bottom[0]->count();
  const Dtype* const in = bottom[0]->cpu_data();
  cpu::MaskRange(count, lowest, highest, in, mask_.mutable_bits());
  cpu::Clip(count, lowest, highest, in, top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ClipLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                    const vector<bool>& propagate_down,
                                    const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  cpu::ApplyMask(top[0]->count(), mask_.bits(), Dtype(1), top[0]->cpu_diff(),
                 bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ClipLayer);
REGISTER_LAYER_CLASS(Clip);

}  // namespace caffe
