#include "caffe/util/db.hpp"

#include "util/db_backends.hpp"

namespace caffe::db {

namespace {

struct Backend {
  const char* name;
  DataParameter::DB id;
  DB* (*make)();
};

constexpr Backend kBackends[] = {
    {"leveldb", DataParameter::LEVELDB, NewLevelDB},
    {"lmdb", DataParameter::LMDB, NewLMDB},
};

}  // namespace

bool Cursor::Seek(const string& key) {
  for (SeekToFirst(); valid(); Next()) {
    if (this->key() == key) return true;
  }
  return false;
}

DB* GetDB(DataParameter::DB backend) {
  for (const Backend& known : kBackends) {
    if (known.id == backend) return known.make();
  }
  Fail("unknown database backend number ", static_cast<int>(backend));
}

DB* GetDB(const string& backend) {
  string names;
  for (const Backend& known : kBackends) {
    if (known.name == backend) return known.make();
    names += names.empty() ? known.name : Concat(" and ", known.name);
  }
  Fail("unknown database backend \"", backend, "\"; there are ", names);
}

}  // namespace caffe::db
