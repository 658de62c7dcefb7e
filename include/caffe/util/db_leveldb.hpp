#ifndef CAFFE_UTIL_DB_LEVELDB_HPP
#define CAFFE_UTIL_DB_LEVELDB_HPP

#include <memory>
#include <string>

#include "caffe/util/db.hpp"

namespace leveldb {
class Iterator;
class WriteBatch;
}  // namespace leveldb

namespace caffe::db {

// An open database folder. All objects of the process that have the same
// database open share one, as LevelDB demands.
class LevelDBHandle;

class LevelDBCursor : public Cursor {
 public:
  explicit LevelDBCursor(shared_ptr<LevelDBHandle> handle);
  ~LevelDBCursor() override;
  void SeekToFirst() override;
  void Next() override;
  bool Seek(const string& key) override;
  string key() override;
  string value() override;
  bool valid() override;

 private:
  void CheckStatus() const;

  const shared_ptr<LevelDBHandle> handle_;
  const std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelDBTransaction : public Transaction {
 public:
  explicit LevelDBTransaction(shared_ptr<LevelDBHandle> handle);
  ~LevelDBTransaction() override;
  void Put(const string& key, const string& value) override;
  void Commit() override;

 private:
  const shared_ptr<LevelDBHandle> handle_;
  const std::unique_ptr<leveldb::WriteBatch> batch_;
};

class LevelDB : public DB {
 public:
  LevelDB();
  ~LevelDB() override;
  void Open(const string& source, Mode mode) override;
  void Close() override { handle_.reset(); }
  LevelDBCursor* NewCursor() override;
  LevelDBTransaction* NewTransaction() override;

 private:
  shared_ptr<LevelDBHandle> handle_;
};

}  // namespace caffe::db

#endif  // CAFFE_UTIL_DB_LEVELDB_HPP
