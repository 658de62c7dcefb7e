#include "database_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "caffe/error.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;

// Enough to make the cost of a commit small.
constexpr int kRecordsPerCommit = 1000;

// A folder's path without the slash at its end, which is not part of its name.
std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void Synchronize(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  Require(done, "cannot write ", path.string(), ": ", std::strerror(error));
}

}  // namespace

DatabaseWriter::DatabaseWriter(const std::string& backend,
                               const std::string& path)
    : path_(WithoutSlash(path)), partial_(path_ + ".partial") {
  Require(!fs::exists(path_), path_,
          " exists already; remove it or choose another name");
  // What an interrupted run left behind.
  fs::remove_all(partial_);
  db_.reset(db::GetDB(backend));
  db_->Open(partial_, db::NEW);
  transaction_.reset(db_->NewTransaction());
}

DatabaseWriter::~DatabaseWriter() {
  if (!db_) return;
  transaction_.reset();
  db_.reset();
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
}

void DatabaseWriter::Put(const std::string& key, const Datum& datum) {
  Require(datum.SerializeToString(&bytes_), "cannot serialize record '", key,
          "'");
  transaction_->Put(key, bytes_);
  if (++count_ % kRecordsPerCommit != 0) return;
  transaction_->Commit();
  transaction_.reset(db_->NewTransaction());
}

void DatabaseWriter::Finish() {
  transaction_->Commit();
  transaction_.reset();
  db_->Close();
  for (const auto& file : fs::directory_iterator(partial_)) {
    Synchronize(file.path());
  }
  Synchronize(partial_);
  Require(!fs::exists(path_), path_, " exists already");
  fs::rename(partial_, path_);
  db_.reset();
  Synchronize(fs::absolute(path_).parent_path());
}

}  // namespace caffe
