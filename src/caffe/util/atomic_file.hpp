#ifndef CAFFE_SRC_UTIL_ATOMIC_FILE_HPP_
#define CAFFE_SRC_UTIL_ATOMIC_FILE_HPP_

#include <string>

namespace caffe {

// Replaces a file as a whole: write to temporary_name(), which lies in the same
// folder, then Commit(). Whenever the process or the machine stops, the file
// is the old one or the new one. Without Commit() the file stays as it was and
// the temporary goes.
//
// A symbolic link stays a link: what it points to is replaced. Devices, pipes
// and /dev/stdout cannot be replaced and are written directly.
class AtomicFile {
 public:
  // Creates the temporary; throws Error when that is not possible.
  explicit AtomicFile(const std::string& filename);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& temporary_name() const { return temporary_; }

  // Brings the temporary to the disk and puts it in the file's place. Throws
  // Error with the file and the system's reason.
  // REQUIRES: whoever wrote the temporary has closed it.
  void Commit();

 private:
  [[noreturn]] void FailToWrite(int error) const;
  void CreateTemporary();
  void Synchronize(const std::string& path) const;

  const std::string filename_;  // As the caller named it.
  std::string target_;          // The same without symbolic links.
  std::string temporary_;
  bool replaces_ = true;
  bool committed_ = false;
};

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_ATOMIC_FILE_HPP_
