#include "util/hdf5_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "util/atomic_file.hpp"
#include "util/hdf5_error.hpp"
#include "util/system_error.hpp"

namespace caffe {

namespace {

// By how much a file in memory grows at a time.
constexpr size_t kGrowth = 16 << 20;

void WriteWhole(const string& filename, const char* bytes, size_t size) {
  AtomicFile target(filename);
  const int file = open(target.temporary_name().c_str(), O_WRONLY | O_CLOEXEC);
  int error = file < 0 ? errno : 0;
  while (error == 0 && size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written >= 0) {
      bytes += written;
      size -= written;
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  Require(error == 0, "cannot write ", filename, ": ", SystemMessage(error));
  target.Commit();
}

}  // namespace

Hdf5Group::~Hdf5Group() {
  if (id_ < 0) return;
  const SilentHdf5 silent;
  H5Gclose(id_);
}

bool Hdf5Group::Has(const std::string& name) const {
  const SilentHdf5 silent;
  return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Group Hdf5Group::OpenGroup(const std::string& name) const {
  const SilentHdf5 silent;
  const hid_t group = H5Gopen2(id_, name.c_str(), H5P_DEFAULT);
  Require(group >= 0, Hdf5Place(id_, name), " is not there or not a group");
  return Hdf5Group(group);
}

Hdf5Group Hdf5Group::CreateGroup(const std::string& name) const {
  const SilentHdf5 silent;
  const hid_t group =
      H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0) {
    Fail("cannot create ", Hdf5Place(id_, name), ": ", Hdf5Reason());
  }
  return Hdf5Group(group);
}

Hdf5Group OpenHdf5(const std::string& filename) {
  const SilentHdf5 silent;
  std::error_code error;
  const bool exists = std::filesystem::exists(filename, error);
  Require(exists, "cannot read ", filename, ": ", SystemMessage(ENOENT));
  const hid_t file = H5Fopen(filename.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) {
    Fail("cannot read ", filename, " as an HDF5 file: ", Hdf5Reason());
  }
  const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
  // The file stays open for as long as one of its groups is.
  H5Fclose(file);
  Require(root >= 0, filename, " is a damaged HDF5 file");
  return Hdf5Group(root);
}

Hdf5Output::Hdf5Output(const std::string& filename) : filename_(filename) {
  const SilentHdf5 silent;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, kGrowth, /*backing_store=*/false);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  file_ = H5Fcreate(filename.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (file_ < 0) Fail("cannot create ", filename, ": ", Hdf5Reason());
}

Hdf5Output::~Hdf5Output() {
  const SilentHdf5 silent;
  H5Fclose(file_);
}

Hdf5Group Hdf5Output::root() const {
  const SilentHdf5 silent;
  const hid_t root = H5Gopen2(file_, "/", H5P_DEFAULT);
  CHECK_GE(root, 0) << Hdf5Reason();
  return Hdf5Group(root);
}

void Hdf5Output::Commit() {
  const SilentHdf5 silent;
  const bool is_flushed = H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0;
  // Asked for a size only: the copy it would make is not needed. The memory
  // itself is larger than the file.
  const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
  void** bytes = nullptr;
  const herr_t found =
      H5Fget_vfd_handle(file_, H5P_DEFAULT, reinterpret_cast<void**>(&bytes));
  const bool complete = is_flushed && size > 0 && found >= 0;
  if (!complete) Fail("cannot write ", filename_, ": ", Hdf5Reason());
  WriteWhole(filename_, static_cast<const char*>(*bytes), size);
}

}  // namespace caffe
