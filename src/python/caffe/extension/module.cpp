#include "bindings.hpp"
#include "caffe/common.hpp"

namespace caffe::python {

namespace {

// As tools do, but nobody wants log files from a Python session. A program that
// runs Python may have started logging before.
void StartLogging() {
  if (google::IsGoogleLoggingInitialized()) return;
  FLAGS_logtostderr = true;
  gflags::SetCommandLineOptionWithMode("log_year_in_prefix", "false",
                                       gflags::SET_FLAGS_DEFAULT);
  google::InitGoogleLogging("caffe");
}

}  // namespace

PYBIND11_MODULE(_caffe, module) {
  module.doc() = "The library behind the package caffe.";
  module.attr("__version__") = CAFFE_VERSION;
  StartLogging();
  py::register_exception<Error>(module, "Error", PyExc_RuntimeError)
      .attr("__module__") = "caffe";
  BindSettings(&module);
  BindBlob(&module);
  BindLayer(&module);
  BindNet(&module);
  BindSolver(&module);
  RegisterPythonLayer();
}

}  // namespace caffe::python
