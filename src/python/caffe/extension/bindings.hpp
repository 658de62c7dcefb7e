#ifndef CAFFE_PYTHON_BINDINGS_HPP_
#define CAFFE_PYTHON_BINDINGS_HPP_

#include <pybind11/pybind11.h>

// The parts of the module caffe._caffe, one a file. What Caffe's users know by
// other means than methods (net.blobs, net.forward(...)) is put on top of them
// by pycaffe.py.

namespace caffe::python {

namespace py = pybind11;

void BindSettings(py::module_* module);
void BindBlob(py::module_* module);
void BindLayer(py::module_* module);
void BindNet(py::module_* module);
void BindSolver(py::module_* module);

// Makes layers of type "Python" known to nets.
void RegisterPythonLayer();

}  // namespace caffe::python

#endif  // CAFFE_PYTHON_BINDINGS_HPP_
