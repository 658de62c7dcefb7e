#ifndef CAFFE_SRC_UTIL_HDF5_FILE_HPP_
#define CAFFE_SRC_UTIL_HDF5_FILE_HPP_

#include <string>

#include "caffe/util/hdf5.hpp"

// HDF5 files and groups that close themselves. All functions throw Error,
// which names the file; in a build without HDF5, always, so that nobody who
// uses them needs to know about the build.

namespace caffe {

// A group, which the root of a file is as well. Its id() goes to the functions
// of hdf5.hpp.
class Hdf5Group {
 public:
  explicit Hdf5Group(hid_t id) : id_(id) {}
  Hdf5Group(Hdf5Group&& other) noexcept : id_(other.id_) { other.id_ = -1; }
  Hdf5Group& operator=(Hdf5Group&&) = delete;
  ~Hdf5Group();

  hid_t id() const { return id_; }

  // Whether there is a group or data set of that name.
  bool Has(const std::string& name) const;
  Hdf5Group OpenGroup(const std::string& name) const;
  Hdf5Group CreateGroup(const std::string& name) const;

 private:
  hid_t id_;
};

// The root of an existing file, for reading.
Hdf5Group OpenHdf5(const std::string& filename);

// A new file, which replaces the one of that name as a whole when Commit() is
// called. Until then it is in memory: HDF5 itself does not survive a full disk.
class Hdf5Output {
 public:
  explicit Hdf5Output(const std::string& filename);
  ~Hdf5Output();
  Hdf5Output(const Hdf5Output&) = delete;
  Hdf5Output& operator=(const Hdf5Output&) = delete;

  Hdf5Group root() const;
  void Commit();

 private:
  const std::string filename_;
  hid_t file_ = -1;
};

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_HDF5_FILE_HPP_
