#include "caffe/net.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "blob_list.hpp"
#include "caffe/layers/memory_data_layer.hpp"
#include "caffe/util/io.hpp"
#include "object_layer.hpp"

namespace caffe::python {

namespace {

using std::filesystem::path;
using FloatNet = Net<float>;

shared_ptr<FloatNet> MakeNet(const path& network_file, int phase, int level,
                             const std::optional<vector<string>>& stages,
                             const std::optional<path>& weights) {
  Require(phase == TRAIN || phase == TEST,
          "the phase must be caffe.TRAIN or caffe.TEST, not ", phase);
  const py::gil_scoped_release release;
  auto net = boost::make_shared<FloatNet>(network_file.string(),
                                          static_cast<Phase>(phase), level,
                                          stages ? &*stages : nullptr);
  if (weights) net->CopyTrainedLayersFrom(weights->string());
  return net;
}

// With the arguments in the order of old programs.
shared_ptr<FloatNet> MakeNetWithWeights(const path& network_file,
                                        const path& weights, int phase) {
  return MakeNet(network_file, phase, 0, std::nullopt, weights);
}

vector<BlobHandle> BlobsOf(const FloatNet& net) {
  vector<BlobHandle> blobs;
  for (const auto& blob : net.blobs()) blobs.emplace_back(blob);
  return blobs;
}

// A layer in Python is the object itself.
py::list LayersOf(const FloatNet& net) {
  py::list layers;
  for (const auto& layer : net.layers()) {
    const auto* const python = dynamic_cast<ObjectLayer*>(layer.get());
    layers.append(python != nullptr ? python->self()
                                    : py::cast(LayerHandle(layer)));
  }
  return layers;
}

int LayerIndex(const FloatNet& net, int index) {
  const int size = static_cast<int>(net.layers().size());
  if (index < 0 || index >= size) {
    throw py::index_error(
        Concat("there is no layer ", index, ": the net has ", size));
  }
  return index;
}

void Save(const FloatNet& net, const path& file) {
  NetParameter param;
  net.ToProto(&param);
  WriteProtoToBinaryFile(param, file.string());
}

// The arrays that a net's data layer reads. Lives with the net.
struct InputArrays {
  std::unique_ptr<Anchor> data;
  std::unique_ptr<Anchor> labels;

  static shared_ptr<InputArrays> Of(FloatNet* net) {
    // Under the GIL. Nets come and go, and so do their addresses.
    static std::map<const FloatNet*, boost::weak_ptr<InputArrays>> all;
    std::erase_if(all,
                  [](const auto& entry) { return entry.second.expired(); });
    if (const auto found = all.find(net); found != all.end()) {
      return found->second.lock();
    }
    auto arrays = boost::make_shared<InputArrays>();
    net->KeepAlive(arrays);
    all[net] = arrays;
    return arrays;
  }
};

float* ValuesOf(const py::array& array, const char* name) {
  Require(py::isinstance<py::array_t<float>>(array), "the ", name,
          " must be an array of type float32");
  Require((array.flags() & py::array::c_style) != 0, "the ", name,
          " must be contiguous in memory (numpy.ascontiguousarray)");
  // The layer only reads them.
  return static_cast<float*>(const_cast<void*>(array.data()));
}

void SetInputArrays(FloatNet* net, const py::array& data,
                    const py::array& labels) {
  auto* const layer =
      net->layers().empty()
          ? nullptr
          : dynamic_cast<MemoryDataLayer<float>*>(net->layers()[0].get());
  Require(layer != nullptr,
          "set_input_arrays needs a net whose first layer is MemoryData");
  float* const values = ValuesOf(data, "data");
  float* const label_values = ValuesOf(labels, "labels");
  Require(data.ndim() == 4 && data.shape(1) == layer->channels() &&
              data.shape(2) == layer->height() &&
              data.shape(3) == layer->width(),
          "the data must have the shape N x ", layer->channels(), " x ",
          layer->height(), " x ", layer->width());
  Require(data.shape(0) <= INT_MAX && labels.size() == data.shape(0),
          "there must be as many labels (", labels.size(), ") as images (",
          data.shape(0), ")");
  layer->Reset(values, label_values, static_cast<int>(data.shape(0)));
  // What the tops still show of earlier arrays must outlive these.
  for (const Blob<float>* top : net->top_vecs()[0]) {
    if (top->data()->is_evicted()) continue;
    const MemoryPin moves_them(top->data());
  }
  const shared_ptr<InputArrays> arrays = InputArrays::Of(net);
  arrays->data = std::make_unique<Anchor>(data);
  arrays->labels = std::make_unique<Anchor>(labels);
}

// A function that Python wants called around every layer.
class NetCallback : public FloatNet::Callback {
 public:
  explicit NetCallback(py::object function) : function_(std::move(function)) {}

 protected:
  void run(int layer) override {
    const py::gil_scoped_acquire gil;
    function_.get()(layer);
  }

 private:
  const Anchor function_;
};

using AddCallback = void (FloatNet::*)(FloatNet::Callback*);

auto CallbackAdder(AddCallback add) {
  return [add](FloatNet* net, py::function function) {
    const auto callback = boost::make_shared<NetCallback>(std::move(function));
    net->KeepAlive(callback);
    (net->*add)(callback.get());
  };
}

}  // namespace

void BindNet(py::module_* module) {
  const py::call_guard<py::gil_scoped_release> without_gil;
  py::class_<FloatNet, shared_ptr<FloatNet>>(
      *module, "Net", py::dynamic_attr(),
      "Layers connected by the names of their blobs.")
      .def(py::init(&MakeNet), py::arg("network_file"), py::arg("phase"),
           py::arg("level") = 0, py::arg("stages") = py::none(),
           py::arg("weights") = py::none())
      .def(py::init(&MakeNetWithWeights), py::arg("network_file"),
           py::arg("weights"), py::arg("phase"))
      .def_property_readonly("_blobs", &BlobsOf)
      .def_property_readonly("layers", &LayersOf)
      .def_property_readonly("_layer_names", &FloatNet::layer_names)
      .def_property_readonly("_blob_names", &FloatNet::blob_names)
      .def_property_readonly("_blob_loss_weights", &FloatNet::blob_loss_weights)
      .def_property_readonly("_inputs", &FloatNet::input_blob_indices)
      .def_property_readonly("_outputs", &FloatNet::output_blob_indices)
      .def("_top_ids",
           [](const FloatNet& net, int layer) {
             return net.top_ids(LayerIndex(net, layer));
           })
      .def("_bottom_ids",
           [](const FloatNet& net, int layer) {
             return net.bottom_ids(LayerIndex(net, layer));
           })
      .def("_forward", &FloatNet::ForwardFromTo, without_gil)
      .def("_backward", &FloatNet::BackwardFromTo, without_gil)
      .def("reshape", &FloatNet::Reshape, without_gil,
           "Carries changed shapes of inputs on to all blobs.")
      .def("clear_param_diffs", &FloatNet::ClearParamDiffs, without_gil)
      .def(
          "copy_from",
          [](FloatNet* net, const path& file) {
            net->CopyTrainedLayersFrom(file.string());
          },
          without_gil, py::arg("weights"),
          "Copies weights into layers of the same names.")
      .def(
          "share_with",
          [](FloatNet* net, const FloatNet& other) {
            net->ShareTrainedLayersWith(&other);
          },
          without_gil, py::arg("other"),
          "Uses the weights of the other net's layers of the same names.")
      .def("save", &Save, without_gil, py::arg("file"))
      .def(
          "save_hdf5",
          [](const FloatNet& net, const path& file) {
            net.ToHDF5(file.string());
          },
          without_gil, py::arg("file"))
      .def(
          "load_hdf5",
          [](FloatNet* net, const path& file) {
            net->CopyTrainedLayersFromHDF5(file.string());
          },
          without_gil, py::arg("file"))
      .def("_set_input_arrays", &SetInputArrays)
      .def("before_forward", CallbackAdder(&FloatNet::add_before_forward))
      .def("after_forward", CallbackAdder(&FloatNet::add_after_forward))
      .def("before_backward", CallbackAdder(&FloatNet::add_before_backward))
      .def("after_backward", CallbackAdder(&FloatNet::add_after_backward));
}

}  // namespace caffe::python
