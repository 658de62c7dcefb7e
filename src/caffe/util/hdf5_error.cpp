#include "util/hdf5_error.hpp"

#include "caffe/error.hpp"

namespace caffe {

namespace {

// The first call is for the innermost function, which knows best.
herr_t KeepFirst(unsigned int depth, const H5E_error2_t* error, void* reason) {
  if (depth == 0 && error->desc != nullptr) {
    *static_cast<std::string*>(reason) = error->desc;
  }
  return 0;
}

// Calls one of HDF5's functions for names, first for the size.
template <typename Get>
std::string NameFrom(const Get& get) {
  const ssize_t size = get(nullptr, 0);
  if (size <= 0) return "";
  std::string name(size, '\0');
  get(name.data(), size + 1);
  return name;
}

}  // namespace

SilentHdf5::SilentHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

SilentHdf5::~SilentHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

std::string Hdf5Reason() {
  std::string reason = "unknown error";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, KeepFirst, &reason);
  return reason;
}

std::string Hdf5Place(hid_t location, const std::string& name) {
  const std::string file = NameFrom([&](char* buffer, size_t size) {
    return H5Fget_name(location, buffer, size);
  });
  const std::string group = NameFrom([&](char* buffer, size_t size) {
    return H5Iget_name(location, buffer, size);
  });
  return Concat(file, ": '", group.ends_with('/') ? group : group + "/", name,
                "'");
}

}  // namespace caffe
