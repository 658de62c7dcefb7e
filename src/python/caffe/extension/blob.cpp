#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>

#include "bindings.hpp"
#include "blob_list.hpp"

namespace caffe::python {

namespace {

// An array that shows the values where they are, and keeps them there, whatever
// becomes of the blob and its net. What was packed, and may have to be read in
// another form by Backward, is copied instead, and cannot be written to.
py::array View(const Blob<float>& blob, bool is_diff) {
  // A blob without axes has one value, or was never given a shape.
  Require(blob.count() > 0 || blob.num_axes() > 0,
          "the blob has no values: it was never given a shape");
  const shared_ptr<SyncedMemory>& memory = is_diff ? blob.diff() : blob.data();
  if (memory->is_evicted()) {
    // The memory may be larger than the blob.
    vector<float> values(memory->size() / sizeof(float));
    memory->CopyTo(values.data());
    py::array copy = py::array_t<float>(blob.shape(), values.data());
    copy.attr("setflags")(py::arg("write") = false);
    return copy;
  }
  auto pin = std::make_unique<MemoryPin>(memory);
  auto* const values = static_cast<float*>(pin->data());
  const py::capsule owner(
      pin.release(), [](void* held) { delete static_cast<MemoryPin*>(held); });
  return py::array_t<float>(blob.shape(), values, owner);
}

// The parameter at an index that may count from the end.
BlobHandle At(const BlobList& blobs, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(blobs.get().size());
  if (index < -size || index >= size) {
    throw py::index_error(
        Concat("there is no parameter ", index, " of ", size));
  }
  return BlobHandle(blobs.get()[index < 0 ? index + size : index]);
}

}  // namespace

vector<int> ShapeFrom(const py::args& extents) {
  vector<int> shape;
  for (const py::handle extent : extents) {
    try {
      shape.push_back(extent.cast<int>());
    } catch (const py::cast_error&) {
      throw py::type_error(
          "a shape is given as whole numbers, such as (64, 3)");
    }
  }
  return shape;
}

void BindBlob(py::module_* module) {
  py::class_<BlobHandle>(*module, "Blob",
                         "A shaped array of values and of their gradients.")
      .def_property_readonly("shape",
                             [](const BlobHandle& blob) {
                               return py::tuple(py::cast(blob.get().shape()));
                             })
      .def_property_readonly(
          "num", [](const BlobHandle& blob) { return blob.get().num(); })
      .def_property_readonly(
          "channels",
          [](const BlobHandle& blob) { return blob.get().channels(); })
      .def_property_readonly(
          "height", [](const BlobHandle& blob) { return blob.get().height(); })
      .def_property_readonly(
          "width", [](const BlobHandle& blob) { return blob.get().width(); })
      .def_property_readonly(
          "count", [](const BlobHandle& blob) { return blob.get().count(); })
      .def_property_readonly(
          "data",
          [](const BlobHandle& blob) { return View(blob.get(), false); },
          "The values, as an array that shows them where they are.")
      .def_property_readonly(
          "diff", [](const BlobHandle& blob) { return View(blob.get(), true); },
          "The gradients, as an array that shows them where they are.")
      .def(
          "reshape",
          [](const BlobHandle& blob, const py::args& extents) {
            blob.get().Reshape(ShapeFrom(extents));
          },
          "Gives the blob another shape: reshape(64, 3, 32, 32).");

  py::class_<BlobList>(*module, "BlobVec", "The parameters of a layer.")
      .def("__len__", [](const BlobList& blobs) { return blobs.get().size(); })
      .def("__getitem__", &At)
      .def(
          "add_blob",
          [](const BlobList& blobs, const py::args& extents) {
            blobs.get().push_back(
                boost::make_shared<Blob<float>>(ShapeFrom(extents)));
          },
          "Adds a parameter of that shape: add_blob(20, 1, 5, 5).");
}

}  // namespace caffe::python
