#ifndef CAFFE_PYTHON_HANDLE_HPP_
#define CAFFE_PYTHON_HANDLE_HPP_

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "caffe/common.hpp"

// The library's pointers, as Python shares them.
PYBIND11_DECLARE_HOLDER_TYPE(T, boost::shared_ptr<T>)

namespace caffe::python {

namespace py = pybind11;

// A blob or layer as Python holds it: shared with the net, or lent by an owner
// who gives away raw pointers only, and then an Error once the owner is gone.
template <typename T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(shared_ptr<T> shared)
      : shared_(std::move(shared)), pointer_(shared_.get()) {}
  Handle(T* lent, std::weak_ptr<void> owner)
      : pointer_(lent), owner_(std::move(owner)) {}

  T& get() const {
    Require(shared_ != nullptr || !owner_.expired(),
            "the net that this belonged to is gone");
    return *pointer_;
  }

 private:
  shared_ptr<T> shared_;
  T* pointer_ = nullptr;
  std::weak_ptr<void> owner_;
};

// A Python object that C++ holds, and may let go of on any thread.
class Anchor {
 public:
  explicit Anchor(py::object object) : object_(std::move(object)) {}
  ~Anchor() {
    if (Py_IsInitialized() == 0) {
      object_.release();
      return;
    }
    const py::gil_scoped_acquire gil;
    object_ = py::object();
  }
  Anchor(const Anchor&) = delete;
  Anchor& operator=(const Anchor&) = delete;

  // REQUIRES: the caller holds the GIL.
  const py::object& get() const { return object_; }

 private:
  py::object object_;
};

}  // namespace caffe::python

#endif  // CAFFE_PYTHON_HANDLE_HPP_
