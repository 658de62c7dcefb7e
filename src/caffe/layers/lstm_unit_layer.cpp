#include "caffe/layers/lstm_layer.hpp"
#include "cpu/lstm_unit.hpp"

namespace caffe {

template <typename Dtype>
void LSTMUnitLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                   const vector<Blob<Dtype>*>& top) {
  for (const Blob<Dtype>* blob : bottom) {
    Require(top[0] != blob && top[1] != blob,
            "cannot work in place: its tops must be other blobs than its "
            "bottoms");
  }
  Require(bottom[0]->num_axes() == 3 && bottom[0]->shape(0) == 1,
          "takes cells of shape (1, streams, cells), not ",
          bottom[0]->shape_string());
  const int streams = bottom[0]->shape(1);
  hidden_dim_ = bottom[0]->shape(2);
  Require(bottom[1]->num_axes() == 3 && bottom[1]->shape(0) == 1 &&
              bottom[1]->shape(1) == streams &&
              bottom[1]->shape(2) == int64_t{4} * hidden_dim_,
          "takes four gates for each of its cells of shape ",
          bottom[0]->shape_string(), ", not ", bottom[1]->shape_string());
  Require(bottom[2]->shape() == vector<int>({1, streams}),
          "takes one indicator for each of its ", streams, " streams, not ",
          bottom[2]->shape_string());
  top[0]->ReshapeLike(*bottom[0]);
  top[1]->ReshapeLike(*bottom[0]);
}

template <typename Dtype>
void LSTMUnitLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& top) {
  cpu::LstmUnitForward({bottom[0]->shape(1), hidden_dim_},
                       bottom[0]->cpu_data(), bottom[1]->cpu_data(),
                       bottom[2]->cpu_data(), top[0]->mutable_cpu_data(),
                       top[1]->mutable_cpu_data());
}

template <typename Dtype>
void LSTMUnitLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                        const vector<bool>& propagate_down,
                                        const vector<Blob<Dtype>*>& bottom) {
  Require(!propagate_down[2], "its indicators of sequences have no gradient");
  const auto diff_of = [&](int i) {
    return propagate_down[i] ? bottom[i]->mutable_cpu_diff() : nullptr;
  };
  cpu::LstmUnitBackward<Dtype>({bottom[0]->shape(1), hidden_dim_},
                               bottom[0]->cpu_data(), bottom[1]->cpu_data(),
                               bottom[2]->cpu_data(), top[0]->cpu_diff(),
                               top[1]->cpu_diff(), diff_of(0), diff_of(1));
}

INSTANTIATE_CLASS(LSTMUnitLayer);
REGISTER_LAYER_CLASS(LSTMUnit);

}  // namespace caffe
