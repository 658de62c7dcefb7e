#include "caffe/layers/parameter_layer.hpp"

#include "cpu/copy.hpp"

namespace caffe {

template <typename Dtype>
void ParameterLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                       const vector<Blob<Dtype>*>& /*top*/) {
  auto parameter = boost::make_shared<Blob<Dtype>>();
  parameter->Reshape(this->layer_param_.parameter_param().shape());
  if (this->blobs_.empty()) this->blobs_.push_back(parameter);
  Require(this->blobs_.size() == 1 &&
              this->blobs_[0]->shape() == parameter->shape(),
          "takes 1 parameter blob of shape ", parameter->shape_string(),
          ", not ", this->blobs_.size(), ", the first of shape ",
          this->blobs_[0]->shape_string());
  this->param_propagate_down_.resize(1, true);
}

template <typename Dtype>
void ParameterLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
                                    const vector<Blob<Dtype>*>& top) {
  top[0]->ReshapeLike(*this->blobs_[0]);
}

// A copy, not the parameter itself: gradients of parameters add up over
// iterations and layers, those of blobs do not.
template <typename Dtype>
void ParameterLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                                        const vector<Blob<Dtype>*>& top) {
  cpu::Copy(top[0]->count(), this->blobs_[0]->cpu_data(),
            top[0]->mutable_cpu_data());
}

template <typename Dtype>
void ParameterLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& top, const vector<bool>& /*propagate_down*/,
    const vector<Blob<Dtype>*>& /*bottom*/) {
  if (!this->param_propagate_down_[0]) return;
  caffe_axpy(top[0]->count(), Dtype(1), top[0]->cpu_diff(),
             this->blobs_[0]->mutable_cpu_diff());
}

INSTANTIATE_CLASS(ParameterLayer);
REGISTER_LAYER_CLASS(Parameter);

}  // namespace caffe
