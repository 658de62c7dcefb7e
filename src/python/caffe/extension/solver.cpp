#include "caffe/solver.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "handle.hpp"

namespace caffe::python {

namespace {

using std::filesystem::path;
using FloatSolver = Solver<float>;

// Asked between iterations: Ctrl-C, or what else a Python handler of signals
// raises, ends training there.
SolverAction::Enum RaisePendingSignals() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return SolverAction::NONE;
}

shared_ptr<FloatSolver> MakeSolver(const path& file) {
  const py::gil_scoped_release release;
  SolverParameter param;
  ReadSolverParamsFromTextFileOrDie(file.string(), &param);
  shared_ptr<FloatSolver> solver(SolverRegistry<float>::CreateSolver(param));
  solver->SetActionFunction(RaisePendingSignals);
  return solver;
}

template <typename OneSolver>
shared_ptr<OneSolver> MakeSolverOf(const path& file) {
  const py::gil_scoped_release release;
  auto solver = boost::make_shared<OneSolver>(file.string());
  solver->SetActionFunction(RaisePendingSignals);
  return solver;
}

template <template <typename> typename OneSolver>
void BindOne(py::module_* module, const char* name) {
  py::class_<OneSolver<float>, FloatSolver, shared_ptr<OneSolver<float>>>(
      *module, name)
      .def(py::init(&MakeSolverOf<OneSolver<float>>), py::arg("solver_file"));
}

// CHECKs in the library, for those who know what they do.
void RequireRoot(const char* what) {
  Require(Caffe::root_solver(), "only the solver of rank 0 can ", what,
          "; this one's is ", Caffe::solver_rank());
}

void Solve(FloatSolver* solver, const std::optional<path>& resume_file) {
  RequireRoot("solve");
  solver->Solve(resume_file ? resume_file->c_str() : nullptr);
}

void Step(FloatSolver* solver, int iterations) {
  Require(iterations >= 0 && iterations <= INT_MAX - solver->iter(),
          "cannot take ", iterations, " steps");
  solver->Step(iterations);
}

// Two functions that Python wants called in every iteration.
class SolverCallback : public FloatSolver::Callback {
 public:
  SolverCallback(py::object on_start, py::object on_gradients_ready)
      : on_start_(std::move(on_start)),
        on_gradients_ready_(std::move(on_gradients_ready)) {}

 protected:
  void on_start() override {
    const py::gil_scoped_acquire gil;
    on_start_.get()();
  }
  void on_gradients_ready() override {
    const py::gil_scoped_acquire gil;
    on_gradients_ready_.get()();
  }

 private:
  const Anchor on_start_;
  const Anchor on_gradients_ready_;
};

void AddCallback(FloatSolver* solver, py::function on_start,
                 py::function on_gradients_ready) {
  const auto callback = boost::make_shared<SolverCallback>(
      std::move(on_start), std::move(on_gradients_ready));
  solver->net()->KeepAlive(callback);
  solver->add_callback(callback.get());
}

}  // namespace

void BindSolver(py::module_* module) {
  const py::call_guard<py::gil_scoped_release> without_gil;
  // What belongs to a solver keeps it alive.
  const py::keep_alive<0, 1> keeps_solver;
  py::class_<FloatSolver, shared_ptr<FloatSolver>>(
      *module, "Solver", py::dynamic_attr(),
      "Trains a net. get_solver() makes one of the type that a prototxt says.")
      .def_property_readonly("net",
                             py::cpp_function(&FloatSolver::net, keeps_solver))
      .def_property_readonly(
          "test_nets",
          [](const py::object& self) {
            py::list nets;
            for (const auto& net : self.cast<FloatSolver&>().test_nets()) {
              const py::object wrapped = py::cast(net);
              py::detail::keep_alive_impl(wrapped, self);
              nets.append(wrapped);
            }
            return nets;
          })
      .def_property_readonly("iter", &FloatSolver::iter)
      .def_property_readonly(
          "type", [](const FloatSolver& solver) { return solver.type(); })
      .def("_param",
           [](const FloatSolver& solver) {
             return py::bytes(solver.param().SerializeAsString());
           })
      .def("solve", &Solve, without_gil, py::arg("resume_file") = py::none(),
           "Trains until max_iter.")
      .def("step", &Step, without_gil, py::arg("iterations"),
           "Trains for so many iterations.")
      .def(
          "restore",
          [](FloatSolver* solver, const path& file) {
            solver->Restore(file.c_str());
          },
          without_gil, py::arg("solver_state"), "Goes back to a snapshot.")
      .def(
          "snapshot",
          [](FloatSolver* solver) {
            RequireRoot("take a snapshot");
            solver->Snapshot();
          },
          without_gil, "Writes the model and the state of training.")
      .def("apply_update", &FloatSolver::ApplyUpdate, without_gil,
           "Updates the parameters by the gradients that are in their diffs.")
      .def(
          "share_weights",
          [](FloatSolver* solver, Net<float>* net) {
            net->ShareTrainedLayersWith(solver->net().get());
          },
          without_gil, py::arg("net"),
          "Makes the layers of that net use this one's weights.")
      .def("add_callback", &AddCallback, py::arg("on_start"),
           py::arg("on_gradients_ready"),
           "Calls these functions in every iteration.");

  BindOne<SGDSolver>(module, "SGDSolver");
  BindOne<NesterovSolver>(module, "NesterovSolver");
  BindOne<AdaGradSolver>(module, "AdaGradSolver");
  BindOne<RMSPropSolver>(module, "RMSPropSolver");
  BindOne<AdaDeltaSolver>(module, "AdaDeltaSolver");
  BindOne<AdamSolver>(module, "AdamSolver");
  module->def("get_solver", &MakeSolver, py::arg("solver_file"),
              "The solver that a prototxt describes.");
}

}  // namespace caffe::python
