#include <pybind11/stl.h>

#include "bindings.hpp"
#include "caffe/common.hpp"
#include "caffe/layer_factory.hpp"
#include "caffe/util/benchmark.hpp"

namespace caffe::python {

void BindSettings(py::module_* module) {
  module->def("set_mode_cpu", [] { Caffe::set_mode(Caffe::CPU); });
  module->def("set_mode_gpu", [] { Caffe::set_mode(Caffe::GPU); });
  module->def("set_device", &Caffe::SetDevice, py::arg("device_id"));
  module->def("set_random_seed", &Caffe::set_random_seed, py::arg("seed"));
  module->def("solver_count", &Caffe::solver_count);
  module->def("set_solver_count", [](int count) {
    Require(count >= 1, "there must be at least one solver, not ", count);
    Caffe::set_solver_count(count);
  });
  module->def("solver_rank", &Caffe::solver_rank);
  module->def("set_solver_rank", [](int rank) {
    Require(rank >= 0, "the rank of a solver must not be negative, as ", rank);
    Caffe::set_solver_rank(rank);
  });
  module->def("set_multiprocess", &Caffe::set_multiprocess);
  module->def("has_nccl", [] { return false; });
  module->def("layer_type_list", &LayerRegistry<float>::LayerTypeList,
              "All types that a layer in a prototxt may have.");

  module->def(
      "init_log",
      [](int level, bool to_stderr) {
        FLAGS_minloglevel = level;
        FLAGS_logtostderr = to_stderr;
      },
      py::arg("level") = 0, py::arg("stderr") = true,
      "Logs from that level on, 0 everything, 1 warnings, 2 errors: to "
      "standard "
      "error, or to files in the folder for temporary ones.");
  module->def(
      "log", [](const string& message) { LOG(INFO) << message; },
      py::arg("message"));

  py::class_<Timer>(*module, "Timer", "A stopwatch.")
      .def(py::init<>())
      .def("start", &Timer::Start)
      .def("stop", &Timer::Stop)
      .def_property_readonly("ms", &Timer::MilliSeconds);
}

}  // namespace caffe::python
