#ifndef CAFFE_SRC_UTIL_HDF5_ERROR_HPP_
#define CAFFE_SRC_UTIL_HDF5_ERROR_HPP_

#include <hdf5.h>

#include <string>

namespace caffe {

// Keeps HDF5 from printing its errors while it lives: they become ours.
class SilentHdf5 {
 public:
  SilentHdf5();
  ~SilentHdf5();
  SilentHdf5(const SilentHdf5&) = delete;
  SilentHdf5& operator=(const SilentHdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

// Why the last call failed, in HDF5's words, such as "no space available".
std::string Hdf5Reason();

// The file of an object and where in it `name` is, for messages.
std::string Hdf5Place(hid_t location, const std::string& name);

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_HDF5_ERROR_HPP_
