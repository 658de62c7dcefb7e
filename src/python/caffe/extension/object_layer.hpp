#ifndef CAFFE_PYTHON_OBJECT_LAYER_HPP_
#define CAFFE_PYTHON_OBJECT_LAYER_HPP_

#include <memory>
#include <vector>

#include "blob_list.hpp"
#include "caffe/layers/python_layer.hpp"
#include "handle.hpp"

namespace caffe::python {

// Hands its work to an object of a class written in Python, derived from
// caffe.Layer, with the methods setup, reshape, forward and backward. Takes the
// GIL whenever it calls one. What Python raises goes through the net as it is.
class ObjectLayer : public PythonLayer<float> {
 public:
  // Makes the object: python_param tells the module and the class.
  explicit ObjectLayer(const LayerParameter& param);

  void LayerSetUp(const vector<Blob<float>*>& bottom,
                  const vector<Blob<float>*>& top) override;
  void Reshape(const vector<Blob<float>*>& bottom,
               const vector<Blob<float>*>& top) override;

  // REQUIRES: the caller holds the GIL.
  const py::object& self() const { return self_->get(); }

 protected:
  void Forward_cpu(const vector<Blob<float>*>& bottom,
                   const vector<Blob<float>*>& top) override;
  void Backward_cpu(const vector<Blob<float>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<float>*>& bottom) override;

 private:
  py::list Lend(const vector<Blob<float>*>& blobs) const;

  std::unique_ptr<Anchor> self_;
  // Ends with the layer, and so does what was lent. It ends before the object
  // does, whose last words then find nothing half gone.
  std::shared_ptr<void> lease_ = std::make_shared<char>();
};

}  // namespace caffe::python

#endif  // CAFFE_PYTHON_OBJECT_LAYER_HPP_
