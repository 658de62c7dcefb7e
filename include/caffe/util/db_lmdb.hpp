#ifndef CAFFE_UTIL_DB_LMDB_HPP
#define CAFFE_UTIL_DB_LMDB_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe/util/db.hpp"

struct MDB_cursor;
struct MDB_txn;

namespace caffe::db {

// Throws Error with LMDB's words unless the status is MDB_SUCCESS.
void MDB_CHECK(int mdb_status);

// An open database file. All objects of the process that have the same
// database open share one, as LMDB demands.
class LMDBEnvironment;

class LMDBCursor : public Cursor {
 public:
  explicit LMDBCursor(shared_ptr<LMDBEnvironment> environment);
  ~LMDBCursor() override;
  void SeekToFirst() override;
  void Next() override;
  bool Seek(const string& key) override;
  string key() override { return string(key_); }
  string value() override { return string(value_); }
  bool valid() override { return valid_; }

 private:
  // The operation is LMDB's MDB_cursor_op; some need a key.
  void Move(int operation, std::string_view key = {});

  const shared_ptr<LMDBEnvironment> environment_;
  MDB_txn* transaction_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  bool valid_ = false;
  // In the mapped file.
  std::string_view key_;
  std::string_view value_;
};

// Commit() enlarges the file's map as needed, for which LMDB wants no other
// transaction or cursor of this process to be open.
class LMDBTransaction : public Transaction {
 public:
  explicit LMDBTransaction(shared_ptr<LMDBEnvironment> environment);
  ~LMDBTransaction() override;
  void Put(const string& key, const string& value) override;
  void Commit() override;

 private:
  // MDB_MAP_FULL when the map must grow first; throws for other errors.
  int TryToCommit();

  const shared_ptr<LMDBEnvironment> environment_;
  std::vector<std::pair<string, string>> records_;
};

class LMDB : public DB {
 public:
  LMDB();
  ~LMDB() override;
  void Open(const string& source, Mode mode) override;
  void Close() override { environment_.reset(); }
  LMDBCursor* NewCursor() override;
  LMDBTransaction* NewTransaction() override;

 private:
  shared_ptr<LMDBEnvironment> environment_;
};

}  // namespace caffe::db

#endif  // CAFFE_UTIL_DB_LMDB_HPP
