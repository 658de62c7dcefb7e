#ifndef CAFFE_PYTHON_LAYER_HPP_
#define CAFFE_PYTHON_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// A layer whose work is done by a class written in Python: derived from
// caffe.Layer, in a module that Python finds (python_param). Its methods setup,
// reshape, forward and backward get bottoms and tops as lists of caffe.Blob, of
// which it may take any number; reshape gives the tops their shapes.
// docs/python.md has an example.
//
// Backward may read everything, and nothing of it is compressed. The type is
// known where Python is: after `import caffe`, and to the program caffe. This
// class is what C++ knows of such a layer; one that derives from it makes the
// calls.
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
