#include "caffe/util/hdf5.hpp"

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "util/hdf5_error.hpp"

namespace caffe {

namespace {

// An identifier of a data set, space or type that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  hid_t id() const { return id_; }
  bool is_valid() const { return id_ >= 0; }

 private:
  const hid_t id_;
  herr_t (*const close_)(hid_t);
};

template <typename Value>
hid_t NativeType();
template <>
hid_t NativeType<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t NativeType<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
hid_t NativeType<int>() {
  return H5T_NATIVE_INT;
}

// An existing data set, open for reading.
class DataSet {
 public:
  DataSet(hid_t location, const string& name)
      : place_(Hdf5Place(location, name)),
        set_(H5Dopen2(location, name.c_str(), H5P_DEFAULT), H5Dclose),
        space_(H5Dget_space(set_.id()), H5Sclose),
        type_(H5Dget_type(set_.id()), H5Tclose) {
    Require(set_.is_valid(), place_, " is not there or not a data set");
    Require(space_.is_valid() && type_.is_valid(), place_, " is damaged");
  }

  const string& place() const { return place_; }
  hid_t type() const { return type_.id(); }
  hssize_t count() const { return H5Sget_simple_extent_npoints(space_.id()); }

  vector<hsize_t> shape() const {
    vector<hsize_t> shape(std::max(0, H5Sget_simple_extent_ndims(space_.id())));
    H5Sget_simple_extent_dims(space_.id(), shape.data(), nullptr);
    return shape;
  }

  void RequireClass(bool holds, const char* what) const {
    Require(holds, place_, " does not hold ", what);
  }

  void Read(hid_t memory_type, void* values) const {
    if (H5Dread(set_.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) <
        0) {
      Fail("cannot read ", place_, ": ", Hdf5Reason());
    }
  }

 private:
  const string place_;
  const Handle set_;
  const Handle space_;
  const Handle type_;
};

// Creates a data set and writes it.
void Save(hid_t location, const string& name, const vector<hsize_t>& shape,
          hid_t type, const void* values) {
  const Handle space(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
      H5Sclose);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // The same values make the same file.
  H5Pset_obj_track_times(properties.id(), false);
  const Handle set(H5Dcreate2(location, name.c_str(), type, space.id(),
                              H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                   H5Dclose);
  if (!set.is_valid() ||
      H5Dwrite(set.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    Fail("cannot write ", Hdf5Place(location, name), ": ", Hdf5Reason());
  }
}

template <typename Dtype>
void ShapeBlob(const DataSet& set, int min_dim, int max_dim, Blob<Dtype>* blob,
               bool reshape) {
  const H5T_class_t type = H5Tget_class(set.type());
  set.RequireClass(type == H5T_FLOAT || type == H5T_INTEGER, "numbers");
  const vector<hsize_t> extents = set.shape();
  const int axes = static_cast<int>(extents.size());
  Require(axes >= min_dim && axes <= max_dim, set.place(), " has ", axes,
          " axes instead of ", min_dim, " to ", max_dim);
  vector<int> shape;
  for (const hsize_t extent : extents) {
    Require(extent <= INT_MAX, set.place(), " is too large for a blob");
    shape.push_back(static_cast<int>(extent));
  }
  if (!reshape && shape != blob->shape()) {
    const string target = blob->shape_string();
    Fail(set.place(), " has shape ", Blob<Dtype>(shape).shape_string(),
         " instead of ", target);
  }
  try {
    blob->Reshape(shape);
  } catch (const Error& error) {
    Fail(set.place(), ": ", error.what());
  }
}

}  // namespace

template <typename Dtype>
void hdf5_load_nd_dataset_helper(hid_t file_id, const char* dataset_name_,
                                 int min_dim, int max_dim, Blob<Dtype>* blob,
                                 bool reshape) {
  const SilentHdf5 silent;
  ShapeBlob(DataSet(file_id, dataset_name_), min_dim, max_dim, blob, reshape);
}

template <typename Dtype>
void hdf5_load_nd_dataset(hid_t file_id, const char* dataset_name_, int min_dim,
                          int max_dim, Blob<Dtype>* blob, bool reshape) {
  const SilentHdf5 silent;
  const DataSet set(file_id, dataset_name_);
  ShapeBlob(set, min_dim, max_dim, blob, reshape);
  set.Read(NativeType<Dtype>(), blob->mutable_cpu_data());
}

template <typename Dtype>
void hdf5_save_nd_dataset(const hid_t file_id, const string& dataset_name,
                          const Blob<Dtype>& blob, bool write_diff) {
  const SilentHdf5 silent;
  Save(file_id, dataset_name,
       vector<hsize_t>(blob.shape().begin(), blob.shape().end()),
       NativeType<Dtype>(), write_diff ? blob.cpu_diff() : blob.cpu_data());
}

int hdf5_load_int(hid_t loc_id, const string& dataset_name) {
  const SilentHdf5 silent;
  const DataSet set(loc_id, dataset_name);
  set.RequireClass(H5Tget_class(set.type()) == H5T_INTEGER && set.count() == 1,
                   "one integer");
  int value = 0;
  set.Read(NativeType<int>(), &value);
  return value;
}

void hdf5_save_int(hid_t loc_id, const string& dataset_name, int i) {
  const SilentHdf5 silent;
  Save(loc_id, dataset_name, {1}, NativeType<int>(), &i);
}

string hdf5_load_string(hid_t loc_id, const string& dataset_name) {
  const SilentHdf5 silent;
  const DataSet set(loc_id, dataset_name);
  set.RequireClass(H5Tget_class(set.type()) == H5T_STRING &&
                       H5Tis_variable_str(set.type()) == 0 && set.count() == 1,
                   "a text of fixed size");
  vector<char> text(H5Tget_size(set.type()));
  set.Read(set.type(), text.data());
  return string(text.begin(), std::find(text.begin(), text.end(), '\0'));
}

void hdf5_save_string(hid_t loc_id, const string& dataset_name,
                      const string& s) {
  const SilentHdf5 silent;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), s.size() + 1);
  Save(loc_id, dataset_name, {}, type.id(), s.c_str());
}

int hdf5_get_num_links(hid_t loc_id) {
  const SilentHdf5 silent;
  H5G_info_t info = {};
  if (H5Gget_info(loc_id, &info) < 0) {
    Fail("cannot read ", Hdf5Place(loc_id, ""), ": ", Hdf5Reason());
  }
  return static_cast<int>(info.nlinks);
}

string hdf5_get_name_by_idx(hid_t loc_id, int idx) {
  const SilentHdf5 silent;
  const auto get = [&](char* name, size_t size) {
    return H5Lget_name_by_idx(loc_id, ".", H5_INDEX_NAME, H5_ITER_NATIVE, idx,
                              name, size, H5P_DEFAULT);
  };
  const ssize_t size = get(nullptr, 0);
  Require(size >= 0, Hdf5Place(loc_id, ""), " has no entry ", idx);
  string name(size, '\0');
  get(name.data(), size + 1);
  return name;
}

#define INSTANTIATE_HDF5(Dtype)                                           \
  template void hdf5_load_nd_dataset_helper(hid_t, const char*, int, int, \
                                            Blob<Dtype>*, bool);          \
  template void hdf5_load_nd_dataset(hid_t, const char*, int, int,        \
                                     Blob<Dtype>*, bool);                 \
  template void hdf5_save_nd_dataset(const hid_t, const string&,          \
                                     const Blob<Dtype>&, bool)

INSTANTIATE_HDF5(float);
INSTANTIATE_HDF5(double);

}  // namespace caffe
