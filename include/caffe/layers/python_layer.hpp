#ifndef CAFFE_PYTHON_LAYER_HPP_
#define CAFFE_PYTHON_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// A layer whose work is done by a class written in Python, which python_param
// names. This is what C++ knows of it; where Python is, a class of its own
// derives from this one and makes the calls.
template <typename Dtype>
class PythonLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override = 0;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override = 0;

  const char* type() const override { return "Python"; }
};

}  // namespace caffe

#endif  // CAFFE_PYTHON_LAYER_HPP_
