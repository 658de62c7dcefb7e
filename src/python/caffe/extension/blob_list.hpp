#ifndef CAFFE_PYTHON_BLOB_LIST_HPP_
#define CAFFE_PYTHON_BLOB_LIST_HPP_

#include <vector>

#include "caffe/layer.hpp"
#include "handle.hpp"

namespace caffe::python {

using BlobHandle = Handle<Blob<float>>;
using LayerHandle = Handle<Layer<float>>;

// The parameters of a layer.
class BlobList {
 public:
  explicit BlobList(LayerHandle layer) : layer_(std::move(layer)) {}
  vector<shared_ptr<Blob<float>>>& get() const { return layer_.get().blobs(); }

 private:
  LayerHandle layer_;
};

// Whole numbers that Python gave as arguments. Raises TypeError for others.
vector<int> ShapeFrom(const py::args& extents);

}  // namespace caffe::python

#endif  // CAFFE_PYTHON_BLOB_LIST_HPP_
