#include "caffe/util/hdf5.hpp"
#include "util/hdf5_file.hpp"

// Linked instead of the HDF5 sources in a build without it.

namespace caffe {

namespace {

[[noreturn]] void BuiltWithoutHdf5(const string& name) {
  Fail("cannot use ", name,
       ": built without HDF5 (configure with -DCAFFE_WITH_HDF5=ON)");
}

}  // namespace

template <typename Dtype>
void hdf5_load_nd_dataset_helper(hid_t, const char* dataset_name_, int, int,
                                 Blob<Dtype>*, bool) {
  BuiltWithoutHdf5(dataset_name_);
}
template <typename Dtype>
void hdf5_load_nd_dataset(hid_t, const char* dataset_name_, int, int,
                          Blob<Dtype>*, bool) {
  BuiltWithoutHdf5(dataset_name_);
}
template <typename Dtype>
void hdf5_save_nd_dataset(const hid_t, const string& dataset_name,
                          const Blob<Dtype>&, bool) {
  BuiltWithoutHdf5(dataset_name);
}
int hdf5_load_int(hid_t, const string& dataset_name) {
  BuiltWithoutHdf5(dataset_name);
}
void hdf5_save_int(hid_t, const string& dataset_name, int) {
  BuiltWithoutHdf5(dataset_name);
}
string hdf5_load_string(hid_t, const string& dataset_name) {
  BuiltWithoutHdf5(dataset_name);
}
void hdf5_save_string(hid_t, const string& dataset_name, const string&) {
  BuiltWithoutHdf5(dataset_name);
}
int hdf5_get_num_links(hid_t) { BuiltWithoutHdf5("a group"); }
string hdf5_get_name_by_idx(hid_t, int) { BuiltWithoutHdf5("a group"); }

Hdf5Group::~Hdf5Group() = default;
bool Hdf5Group::Has(const string& name) const { BuiltWithoutHdf5(name); }
Hdf5Group Hdf5Group::OpenGroup(const string& name) const {
  BuiltWithoutHdf5(name);
}
Hdf5Group Hdf5Group::CreateGroup(const string& name) const {
  BuiltWithoutHdf5(name);
}
Hdf5Group OpenHdf5(const string& filename) { BuiltWithoutHdf5(filename); }
Hdf5Output::Hdf5Output(const string& filename) : filename_(filename) {
  BuiltWithoutHdf5(filename);
}
Hdf5Output::~Hdf5Output() = default;
Hdf5Group Hdf5Output::root() const { BuiltWithoutHdf5(filename_); }
void Hdf5Output::Commit() { BuiltWithoutHdf5(filename_); }

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
