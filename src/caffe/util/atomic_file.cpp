#include "util/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "caffe/error.hpp"
#include "util/system_error.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;

std::string WithoutLinks(const std::string& filename) {
  std::error_code error;
  const fs::path path = fs::canonical(filename, error);
  return error ? filename : path.string();
}

// Below these, names stand for what the process has open already: /dev/stdout
// may lead to a regular file that others write as well.
bool IsDevice(const std::string& filename) {
  return filename.starts_with("/dev/") || filename.starts_with("/proc/");
}

std::string FolderOf(const std::string& filename) {
  const fs::path folder = fs::path(filename).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& filename)
    : filename_(filename), target_(WithoutLinks(filename)) {
  struct stat status = {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) FailToWrite(EISDIR);
  replaces_ = !IsDevice(filename) && (!exists || S_ISREG(status.st_mode));
  if (!replaces_) {
    temporary_ = filename;
    return;
  }
  CreateTemporary();
  // Whoever could not read the old file must not read the new one either.
  if (exists) chmod(temporary_.c_str(), status.st_mode & 0777);
}

AtomicFile::~AtomicFile() {
  if (replaces_ && !committed_) unlink(temporary_.c_str());
}

void AtomicFile::Commit() {
  if (!replaces_) return;
  Synchronize(temporary_);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) FailToWrite(errno);
  committed_ = true;
  // The new name is not on the disk before its folder is.
  Synchronize(FolderOf(target_));
}

void AtomicFile::FailToWrite(int error) const {
  Fail("cannot write ", filename_, ": ", SystemMessage(error));
}

void AtomicFile::CreateTemporary() {
  const std::string stem = Concat(target_, ".tmp-", getpid(), "-");
  for (int i = 0;; ++i) {
    temporary_ = stem + std::to_string(i);
    const int file =
        open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      close(file);
      return;
    }
    if (errno != EEXIST) FailToWrite(errno);
  }
}

void AtomicFile::Synchronize(const std::string& path) const {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) FailToWrite(errno);
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  // Some file systems know no fsync, for folders above all.
  if (error != 0 && error != EINVAL && error != ENOTSUP) FailToWrite(error);
}

}  // namespace caffe
