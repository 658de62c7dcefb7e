#ifndef CAFFE_TOOLS_DATABASE_WRITER_HPP_
#define CAFFE_TOOLS_DATABASE_WRITER_HPP_

#include <memory>
#include <string>

#include "caffe/proto/caffe.pb.h"
#include "caffe/util/db.hpp"

namespace caffe {

// Writes a new database that is there as a whole or not at all: it grows under
// the name path.partial and gets its own name in Finish(). Never writes over a
// database that is there already. Throws Error for all that goes wrong.
class DatabaseWriter {
 public:
  // backend is "lmdb" or "leveldb".
  DatabaseWriter(const std::string& backend, const std::string& path);
  // Removes the database unless it was finished.
  ~DatabaseWriter();
  DatabaseWriter(const DatabaseWriter&) = delete;
  DatabaseWriter& operator=(const DatabaseWriter&) = delete;

  void Put(const std::string& key, const Datum& datum);
  void Finish();

  int64_t count() const { return count_; }

 private:
  const std::string path_;
  const std::string partial_;
  std::unique_ptr<db::DB> db_;
  std::unique_ptr<db::Transaction> transaction_;
  std::string bytes_;  // Kept for its memory.
  int64_t count_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_TOOLS_DATABASE_WRITER_HPP_
