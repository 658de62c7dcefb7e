#ifndef CAFFE_UTIL_DB_HPP
#define CAFFE_UTIL_DB_HPP

#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

// Databases of records, in the order of their keys. All functions throw Error,
// which names the database, when it is missing, damaged or cannot be written.
namespace caffe::db {

// NEW creates a database that must not exist yet.
enum Mode { READ, WRITE, NEW };

// Walks over the records. It sees the database as it was when the cursor was
// made, and keeps it open. One thread at a time.
class Cursor {
 public:
  Cursor() = default;
  virtual ~Cursor() = default;
  virtual void SeekToFirst() = 0;
  virtual void Next() = 0;
  // Goes to the record of that key. When there is none, returns false and may
  // be anywhere. Walks over all records unless the database knows better.
  virtual bool Seek(const string& key);
  // REQUIRES: valid().
  virtual string key() = 0;
  virtual string value() = 0;
  // False behind the last record.
  virtual bool valid() = 0;

  DISABLE_COPY_AND_ASSIGN(Cursor);
};

// Collects records, which Commit() writes all together or not at all.
class Transaction {
 public:
  Transaction() = default;
  virtual ~Transaction() = default;
  virtual void Put(const string& key, const string& value) = 0;
  virtual void Commit() = 0;

  DISABLE_COPY_AND_ASSIGN(Transaction);
};

// One open database. Several objects, in several threads, may have the same
// one open for reading. Cursors and transactions belong to the caller and may
// outlive the object.
class DB {
 public:
  DB() = default;
  virtual ~DB() = default;
  virtual void Open(const string& source, Mode mode) = 0;
  virtual void Close() = 0;
  virtual Cursor* NewCursor() = 0;
  virtual Transaction* NewTransaction() = 0;

  DISABLE_COPY_AND_ASSIGN(DB);
};

// A database, not open yet, that belongs to the caller. The names are "lmdb"
// and "leveldb".
DB* GetDB(DataParameter::DB backend);
DB* GetDB(const string& backend);

}  // namespace caffe::db

#endif  // CAFFE_UTIL_DB_HPP
