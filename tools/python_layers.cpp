#include <pybind11/embed.h>

#include <filesystem>
#include <string>

#include "caffe/layer.hpp"

// Starts Python when a net has a layer of type "Python". The package caffe,
// which is imported then, makes the layers.

namespace caffe {

namespace {

namespace py = pybind11;

void Initialize() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  // Ctrl-C is the tool's.
  config.install_signal_handlers = 0;
  // Not the first python3 on PATH, which may be another.
  PyConfig_SetBytesString(&config, &config.program_name,
                          CAFFE_PYTHON_EXECUTABLE);
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  Require(PyStatus_Exception(status) == 0, "cannot start Python: ",
          status.err_msg != nullptr ? status.err_msg : "no reason given");
}

// The package is beside the folder of this program, in the build and where it
// was installed; users' modules are where Python finds them, or here.
void ImportCaffe() {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe");
  const py::list path = py::module_::import("sys").attr("path");
  path.attr("insert")(
      0, (program.parent_path().parent_path() / "python").string());
  path.attr("append")("");
  try {
    py::module_::import("caffe");
  } catch (const py::error_already_set& error) {
    Fail("layers in Python need the package caffe: ", error.what());
  }
}

shared_ptr<Layer<float>> StartPython(const LayerParameter& param) {
  Initialize();
  ImportCaffe();
  // From now on whoever calls Python asks for the lock.
  PyEval_SaveThread();
  Require(
      LayerRegistry<float>::Registry()["Python"] != &StartPython,
      "the package caffe that Python found does not belong to this program");
  return LayerRegistry<float>::CreateLayer(param);
}

const bool is_registered =
    LayerRegistry<float>::Registry().emplace("Python", &StartPython).second;

}  // namespace

}  // namespace caffe
