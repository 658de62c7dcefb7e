#include "bindings.hpp"
#include "blob_list.hpp"

namespace caffe::python {

namespace {

// What Python classes must override, or may leave as it is.
void MustOverride(const char* method) {
  PyErr_SetString(PyExc_NotImplementedError,
                  Concat("a layer in Python needs a method ", method).c_str());
  throw py::error_already_set();
}

}  // namespace

void BindLayer(py::module_* module) {
  py::class_<LayerHandle>(*module, "Layer", py::dynamic_attr(),
                          "A layer of a net, and the base of layers in Python.")
      // Nets make layers and hand over their LayerParameter.
      .def(py::init([](const py::args&) { return LayerHandle(); }))
      .def_property_readonly(
          "type", [](const LayerHandle& layer) { return layer.get().type(); })
      .def_property_readonly("blobs",
                             [](const LayerHandle& layer) {
                               layer.get();  // an Error now rather than later
                               return BlobList(layer);
                             })
      .def("setup", [](const LayerHandle&, const py::args&) {})
      .def("reshape",
           [](const LayerHandle&, const py::args&) { MustOverride("reshape"); })
      .def("forward",
           [](const LayerHandle&, const py::args&) { MustOverride("forward"); })
      .def("backward", [](const LayerHandle&, const py::args&) {
        MustOverride("backward");
      });
}

}  // namespace caffe::python
