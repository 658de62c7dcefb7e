#include "data/open_database.hpp"

#include <filesystem>

namespace caffe {

namespace {

std::string ActualBackend(const std::string& source,
                          const std::string& backend) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_lmdb = fs::exists(fs::path(source) / "data.mdb", ignored);
  const bool is_leveldb = fs::exists(fs::path(source) / "CURRENT", ignored);
  if (is_lmdb == is_leveldb) return backend;
  std::string actual = is_lmdb ? "lmdb" : "leveldb";
  LOG_IF(WARNING, actual != backend)
      << source << " is a database of backend " << actual << ", not " << backend
      << "; reading it as such";
  return actual;
}

}  // namespace

std::unique_ptr<db::DB> OpenDatabase(const std::string& source,
                                     const std::string& backend) {
  std::unique_ptr<db::DB> database(db::GetDB(ActualBackend(source, backend)));
  database->Open(source, db::READ);
  return database;
}

}  // namespace caffe
