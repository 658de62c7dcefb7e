#include "caffe/util/db_leveldb.hpp"

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <filesystem>

#include "util/db_backends.hpp"
#include "util/shared_by_path.hpp"

namespace caffe::db {

namespace {

namespace fs = std::filesystem;

// As Caffe has them: images are large, and so are the databases.
constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kWriteBufferBytes = 256 << 20;
constexpr int kMaxOpenFiles = 100;

}  // namespace

class LevelDBHandle {
 public:
  LevelDBHandle(const string& path, Mode mode)
      : path_(path), is_writable_(mode != READ) {
    std::error_code error;
    Require(!fs::exists(fs::path(path) / "data.mdb", error), path,
            " is an LMDB database, not LevelDB; use backend: LMDB");
    // LevelDB would create the folder and a lock file in it.
    Require(mode != READ || fs::exists(fs::path(path) / "CURRENT", error),
            "there is no LevelDB database in ", path);
    leveldb::Options options;
    options.block_size = kBlockBytes;
    options.write_buffer_size = kWriteBufferBytes;
    options.max_open_files = kMaxOpenFiles;
    options.error_if_exists = mode == NEW;
    options.create_if_missing = mode != READ;
    options.paranoid_checks = true;
    leveldb::DB* database = nullptr;
    Check(leveldb::DB::Open(options, path, &database));
    database_.reset(database);
  }

  bool is_writable() const { return is_writable_; }

  leveldb::Iterator* NewIterator() const {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    // Every record is read once and then not for a long time.
    options.fill_cache = false;
    return database_->NewIterator(options);
  }

  void Write(leveldb::WriteBatch* batch) const {
    Check(database_->Write(leveldb::WriteOptions(), batch));
  }

  void Check(const leveldb::Status& status) const {
    Require(status.ok(), "LevelDB database ", path_, ": ", status.ToString());
  }

 private:
  const string path_;
  const bool is_writable_;
  std::unique_ptr<leveldb::DB> database_;
};

namespace {

SharedByPath<LevelDBHandle>& Handles() {
  static auto* const handles = new SharedByPath<LevelDBHandle>();
  return *handles;
}

}  // namespace

LevelDBCursor::LevelDBCursor(shared_ptr<LevelDBHandle> handle)
    : handle_(std::move(handle)), iterator_(handle_->NewIterator()) {
  SeekToFirst();
}
LevelDBCursor::~LevelDBCursor() = default;

void LevelDBCursor::SeekToFirst() {
  iterator_->SeekToFirst();
  CheckStatus();
}

void LevelDBCursor::Next() {
  iterator_->Next();
  CheckStatus();
}

bool LevelDBCursor::Seek(const string& key) {
  // Stops at the first key that is not before it.
  iterator_->Seek(key);
  CheckStatus();
  return iterator_->Valid() && iterator_->key() == key;
}

string LevelDBCursor::key() { return iterator_->key().ToString(); }
string LevelDBCursor::value() { return iterator_->value().ToString(); }
bool LevelDBCursor::valid() { return iterator_->Valid(); }
void LevelDBCursor::CheckStatus() const { handle_->Check(iterator_->status()); }

LevelDBTransaction::LevelDBTransaction(shared_ptr<LevelDBHandle> handle)
    : handle_(std::move(handle)),
      batch_(std::make_unique<leveldb::WriteBatch>()) {}
LevelDBTransaction::~LevelDBTransaction() = default;

void LevelDBTransaction::Put(const string& key, const string& value) {
  batch_->Put(key, value);
}

void LevelDBTransaction::Commit() {
  handle_->Write(batch_.get());
  batch_->Clear();
}

LevelDB::LevelDB() = default;
LevelDB::~LevelDB() = default;

void LevelDB::Open(const string& source, Mode mode) {
  Close();
  const auto make = [&] {
    return boost::make_shared<LevelDBHandle>(source, mode);
  };
  handle_ = mode == READ ? Handles().GetOrMake(source, make)
                         : Handles().Make(source, make);
}

LevelDBCursor* LevelDB::NewCursor() {
  CHECK(handle_ != nullptr) << "the database is not open";
  return new LevelDBCursor(handle_);
}

LevelDBTransaction* LevelDB::NewTransaction() {
  CHECK(handle_ != nullptr && handle_->is_writable())
      << "the database is not open for writing";
  return new LevelDBTransaction(handle_);
}

DB* NewLevelDB() { return new LevelDB(); }

}  // namespace caffe::db
