#include "caffe/layers/reduction_layer.hpp"

#include "cpu/reduction.hpp"

namespace caffe {

namespace {

cpu::Addend AddendOf(ReductionParameter_ReductionOp op) {
  switch (op) {
    case ReductionParameter::ASUM:
      return cpu::Addend::kAbsolute;
    case ReductionParameter::SUMSQ:
      return cpu::Addend::kSquare;
    default:
      return cpu::Addend::kValue;
  }
}

}  // namespace

template <typename Dtype>
void ReductionLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                       const vector<Blob<Dtype>*>& /*top*/) {
  op_ = this->layer_param_.reduction_param().operation();
}

template <typename Dtype>
void ReductionLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  Require(top[0] != bottom[0],
          "cannot work in place: its top must be another blob than its bottom");
  const ReductionParameter& param = this->layer_param_.reduction_param();
  axis_ = bottom[0]->CanonicalAxisIndex(param.axis());
  const vector<int>& shape = bottom[0]->shape();
  top[0]->Reshape(vector<int>(shape.begin(), shape.begin() + axis_));
  num_ = bottom[0]->count(0, axis_);
  dim_ = bottom[0]->count(axis_);
  coeff_ = param.coeff();
  if (op_ == ReductionParameter::MEAN) {
    Require(dim_ > 0, "there is no mean of no values");
    coeff_ /= dim_;
  }
}

template <typename Dtype>
BackwardReads ReductionLayer<Dtype>::backward_reads() const {
  switch (op_) {
    case ReductionParameter::ASUM:
      // Three kinds of signs: zeros have no gradient.
      return BackwardReads::OfBottoms(BackwardRead::kExact);
    case ReductionParameter::SUMSQ:
      return BackwardReads::OfBottoms(BackwardRead::kValues);
    default:
      return BackwardReads::Nothing();
  }
}

template <typename Dtype>
void ReductionLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                        const vector<Blob<Dtype>*>& top) {
  cpu::SumRows(AddendOf(op_), num_, dim_, coeff_, bottom[0]->cpu_data(),
               top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ReductionLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& top,
                                         const vector<bool>& propagate_down,
                                         const vector<Blob<Dtype>*>& bottom) {
  if (!propagate_down[0]) return;
  const cpu::Addend addend = AddendOf(op_);
  cpu::SumRowsBackward<Dtype>(
      addend, num_, dim_, coeff_,
      addend == cpu::Addend::kValue ? nullptr : bottom[0]->cpu_data(),
      top[0]->cpu_diff(), bottom[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ReductionLayer);
REGISTER_LAYER_CLASS(Reduction);

}  // namespace caffe
