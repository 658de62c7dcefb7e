#include "caffe/layers/eltwise_layer.hpp"

#include <algorithm>

#include "cpu/eltwise.hpp"

namespace caffe {

template <typename Dtype>
void EltwiseLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                     const vector<Blob<Dtype>*>& /*top*/) {
  const EltwiseParameter& param = this->layer_param_.eltwise_param();
  op_ = param.operation();
  stable_prod_grad_ = param.stable_prod_grad();
  const int coefficients = param.coeff_size();
  Require(coefficients == 0 || coefficients == static_cast<int>(bottom.size()),
          "takes one coeff for each of its ", bottom.size(),
          " bottoms or none, not ", coefficients);
  Require(coefficients == 0 || op_ == EltwiseParameter::SUM,
          "takes coeff only with operation SUM");
  if (coefficients == 0) {
    coeffs_.assign(bottom.size(), Dtype(1));
  } else {
    coeffs_.assign(param.coeff().begin(), param.coeff().end());
  }
}

template <typename Dtype>
void EltwiseLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                  const vector<Blob<Dtype>*>& top) {
  for (const Blob<Dtype>* operand : bottom) {
    Require(operand != top[0],
            "cannot work in place: its top must be another blob than its "
            "bottoms");
    Require(operand->shape() == bottom[0]->shape(),
            "its bottoms must have the same shape, not ",
            bottom[0]->shape_string(), " and ", operand->shape_string());
  }
  top[0]->ReshapeLike(*bottom[0]);
  if (op_ == EltwiseParameter::MAX) max_idx_.Reshape(bottom[0]->shape());
}

template <typename Dtype>
BackwardReads EltwiseLayer<Dtype>::backward_reads() const {
  if (op_ != EltwiseParameter::PROD) return BackwardReads::Nothing();
  if (stable_prod_grad_) return BackwardReads::OfBottoms(BackwardRead::kValues);
  // A quotient of values that are each a little wrong can be very wrong.
  return BackwardReads::Of({BackwardRead::kExact}, {BackwardRead::kExact});
}

template <typename Dtype>
void EltwiseLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                      const vector<Blob<Dtype>*>& top) {
  vector<const Dtype*> operands;
  for (const Blob<Dtype>* blob : bottom) operands.push_back(blob->cpu_data());
  const int count = top[0]->count();
  Dtype* const out = top[0]->mutable_cpu_data();
  switch (op_) {
    case EltwiseParameter::PROD:
      cpu::Product<Dtype>(count, operands, out);
      break;
    case EltwiseParameter::SUM:
      if (std::all_of(coeffs_.begin(), coeffs_.end(),
                      [](Dtype coefficient) { return coefficient == 1; })) {
        cpu::Sum<Dtype>(count, operands, out);
      } else {
        cpu::WeightedSum<Dtype>(count, operands, coeffs_, out);
      }
      break;
    case EltwiseParameter::MAX:
      cpu::Maximum<Dtype>(count, operands, out, max_idx_.mutable_cpu_data());
      break;
  }
}

template <typename Dtype>
void EltwiseLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                       const vector<bool>& propagate_down,
                                       const vector<Blob<Dtype>*>& bottom) {
  const int count = top[0]->count();
  const Dtype* const top_diff = top[0]->cpu_diff();
  for (size_t i = 0; i < bottom.size(); ++i) {
    if (!propagate_down[i]) continue;
    Dtype* const diff = bottom[i]->mutable_cpu_diff();
    switch (op_) {
      case EltwiseParameter::PROD:
        ProductBackward(*top[0], bottom, i);
        break;
      case EltwiseParameter::SUM:
        if (coeffs_[i] == Dtype(1)) {
          caffe_copy(count, top_diff, diff);
        } else {
          caffe_cpu_scale(count, coeffs_[i], top_diff, diff);
        }
        break;
      case EltwiseParameter::MAX:
        cpu::MaximumBackward(count, static_cast<int>(i), max_idx_.cpu_data(),
                             top_diff, diff);
        break;
    }
  }
}

template <typename Dtype>
void EltwiseLayer<Dtype>::ProductBackward(const Blob<Dtype>& top,
                                          const vector<Blob<Dtype>*>& bottom,
                                          size_t index) {
  const int count = top.count();
  Dtype* const diff = bottom[index]->mutable_cpu_diff();
  if (!stable_prod_grad_) {
    caffe_div(count, top.cpu_data(), bottom[index]->cpu_data(), diff);
    caffe_mul(count, diff, top.cpu_diff(), diff);
    return;
  }
  vector<const Dtype*> factors = {top.cpu_diff()};
  for (size_t i = 0; i < bottom.size(); ++i) {
    if (i != index) factors.push_back(bottom[i]->cpu_data());
  }
  cpu::Product<Dtype>(count, factors, diff);
}

INSTANTIATE_CLASS(EltwiseLayer);
REGISTER_LAYER_CLASS(Eltwise);

}  // namespace caffe
