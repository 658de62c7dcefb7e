#include "object_layer.hpp"

#include "bindings.hpp"

namespace caffe::python {

namespace {

py::object MakeObject(const LayerParameter& param) {
  const PythonParameter& settings = param.python_param();
  Require(settings.has_module() && settings.has_layer(),
          "python_param needs the module and the layer (its class)");
  const py::module_ module = py::module_::import(settings.module().c_str());
  Require(py::hasattr(module, settings.layer().c_str()), "the module ",
          settings.module(), " has no class ", settings.layer());
  const py::object made = module.attr(settings.layer().c_str());
  const py::object base = py::type::of<LayerHandle>();
  const bool is_layer = PyType_Check(made.ptr()) != 0 &&
                        PyObject_IsSubclass(made.ptr(), base.ptr()) == 1;
  Require(is_layer, settings.module(), ".", settings.layer(),
          " is not a class derived from caffe.Layer");
  const py::object message =
      py::module_::import("caffe.proto.caffe_pb2").attr("LayerParameter")();
  message.attr("ParseFromString")(py::bytes(param.SerializeAsString()));
  return made(message);
}

shared_ptr<Layer<float>> MakeObjectLayer(const LayerParameter& param) {
  return boost::make_shared<ObjectLayer>(param);
}

}  // namespace

ObjectLayer::ObjectLayer(const LayerParameter& param)
    : PythonLayer<float>(param) {
  const py::gil_scoped_acquire gil;
  self_ = std::make_unique<Anchor>(MakeObject(param));
  self().cast<LayerHandle&>() = LayerHandle(this, lease_);
}

py::list ObjectLayer::Lend(const vector<Blob<float>*>& blobs) const {
  py::list lent;
  for (Blob<float>* const blob : blobs) lent.append(BlobHandle(blob, lease_));
  return lent;
}

void ObjectLayer::LayerSetUp(const vector<Blob<float>*>& bottom,
                             const vector<Blob<float>*>& top) {
  const py::gil_scoped_acquire gil;
  self().attr("param_str") = layer_param_.python_param().param_str();
  self().attr("phase") = static_cast<int>(phase_);
  self().attr("setup")(Lend(bottom), Lend(top));
}

void ObjectLayer::Reshape(const vector<Blob<float>*>& bottom,
                          const vector<Blob<float>*>& top) {
  const py::gil_scoped_acquire gil;
  self().attr("reshape")(Lend(bottom), Lend(top));
}

void ObjectLayer::Forward_cpu(const vector<Blob<float>*>& bottom,
                              const vector<Blob<float>*>& top) {
  const py::gil_scoped_acquire gil;
  self().attr("forward")(Lend(bottom), Lend(top));
}

void ObjectLayer::Backward_cpu(const vector<Blob<float>*>& top,
                               const vector<bool>& propagate_down,
                               const vector<Blob<float>*>& bottom) {
  const py::gil_scoped_acquire gil;
  py::list wanted;
  for (const bool is_wanted : propagate_down) wanted.append(is_wanted);
  self().attr("backward")(Lend(top), wanted, Lend(bottom));
}

void RegisterPythonLayer() {
  // A program that starts Python when it meets such a layer has put a creator
  // there that does so; from now on it is not needed.
  LayerRegistry<float>::Registry()["Python"] = &MakeObjectLayer;
}

}  // namespace caffe::python
