#include "caffe/util/db_lmdb.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "util/db_backends.hpp"
#include "util/lmdb_check.hpp"
#include "util/shared_by_path.hpp"
#include "util/system_error.hpp"

namespace caffe::db {

namespace {

namespace fs = std::filesystem;

// Cursors that may be open at a time, in all processes.
constexpr unsigned int kMaxReaders = 4096;

struct CloseEnvironment {
  void operator()(MDB_env* env) const { mdb_env_close(env); }
};
using EnvironmentPointer = std::unique_ptr<MDB_env, CloseEnvironment>;

}  // namespace

void MDB_CHECK(int mdb_status) {
  Require(mdb_status == MDB_SUCCESS, "LMDB: ", mdb_strerror(mdb_status));
}

class LMDBEnvironment {
 public:
  LMDBEnvironment(const string& path, Mode mode)
      : path_(path), is_writable_(mode != READ) {
    if (mode == NEW) CreateFolder();
    CheckDataFile();
    int status = OpenWith(is_writable_ ? 0 : MDB_RDONLY);
    // Where the folder cannot be written there is no lock file, and no writer.
    if (!is_writable_ && (status == EACCES || status == EROFS)) {
      status = OpenWith(MDB_RDONLY | MDB_NOLOCK);
    }
    Check(status, "cannot open");
    MDB_txn* const transaction = Begin(MDB_RDONLY);
    try {
      CheckLmdbTrees(path, Descriptor(), mdb_txn_id(transaction));
      Check(mdb_dbi_open(transaction, nullptr, 0, &database_), "cannot open");
    } catch (const Error&) {
      mdb_txn_abort(transaction);
      throw;
    }
    // Keeps the handle open for all later transactions.
    Check(mdb_txn_commit(transaction), "cannot open");
  }

  bool is_writable() const { return is_writable_; }
  MDB_dbi database() const { return database_; }

  MDB_txn* Begin(unsigned int flags) const {
    MDB_txn* transaction = nullptr;
    const auto begin = [&] {
      return mdb_txn_begin(env_.get(), nullptr, flags, &transaction);
    };
    int status = begin();
    if (status == MDB_READERS_FULL) {
      // Frees the places of readers that were killed.
      int freed = 0;
      mdb_reader_check(env_.get(), &freed);
      status = begin();
    } else if (status == MDB_MAP_RESIZED) {
      // Another process enlarged the database: takes over the new size.
      mdb_env_set_mapsize(env_.get(), 0);
      status = begin();
    }
    Check(status, "cannot read");
    return transaction;
  }

  void DoubleMapSize() const {
    MDB_envinfo info = {};
    mdb_env_info(env_.get(), &info);
    Check(mdb_env_set_mapsize(env_.get(), info.me_mapsize * 2),
          "cannot enlarge");
  }

  // Throws Error "<what> LMDB database <path>: ..." unless successful.
  void Check(int status, const char* what) const {
    Require(status == MDB_SUCCESS, what, " LMDB database ", path_, ": ",
            mdb_strerror(status));
  }

 private:
  int OpenWith(unsigned int flags) {
    MDB_env* env = nullptr;
    Check(mdb_env_create(&env), "cannot open");
    env_.reset(env);
    mdb_env_set_maxreaders(env, kMaxReaders);
    // A thread may have several cursors.
    return mdb_env_open(env, path_.c_str(), flags | MDB_NOTLS, 0664);
  }

  int Descriptor() const {
    mdb_filehandle_t file = -1;
    Check(mdb_env_get_fd(env_.get(), &file), "cannot open");
    return file;
  }

  void CreateFolder() const {
    if (mkdir(path_.c_str(), 0777) == 0) return;
    Fail("cannot create LMDB database ", path_, ": ", SystemMessage(errno));
  }

  // Before LMDB sees it: it would leave a lock file in whatever folder it is
  // given.
  void CheckDataFile() const {
    const string name = path_ + "/data.mdb";
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      if (is_writable_) return;  // LMDB creates it.
      FailToOpen(errno);
    }
    struct stat status = {};
    fstat(file, &status);
    try {
      Require(is_writable_ || status.st_size > 0, "LMDB database ", path_,
              " is empty");
      if (status.st_size > 0) CheckLmdbMeta(path_, file);
    } catch (const Error&) {
      close(file);
      throw;
    }
    close(file);
  }

  [[noreturn]] void FailToOpen(int error) const {
    std::error_code ignored;
    Require(!fs::exists(path_ + "/CURRENT", ignored), path_,
            " is a LevelDB database, not LMDB; use backend: LEVELDB");
    Require(error != ENOENT || !fs::is_directory(path_, ignored), path_,
            " is not an LMDB database: it has no file data.mdb");
    Fail("cannot open LMDB database ", path_, ": ", SystemMessage(error));
  }

  const string path_;
  const bool is_writable_;
  EnvironmentPointer env_;
  MDB_dbi database_ = 0;
};

namespace {

SharedByPath<LMDBEnvironment>& Environments() {
  static auto* const environments = new SharedByPath<LMDBEnvironment>();
  return *environments;
}

MDB_val ToLmdb(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::string_view FromLmdb(const MDB_val& bytes) {
  return {static_cast<const char*>(bytes.mv_data), bytes.mv_size};
}

}  // namespace

LMDBCursor::LMDBCursor(shared_ptr<LMDBEnvironment> environment)
    : environment_(std::move(environment)),
      transaction_(environment_->Begin(MDB_RDONLY)) {
  const int status =
      mdb_cursor_open(transaction_, environment_->database(), &cursor_);
  if (status != MDB_SUCCESS) mdb_txn_abort(transaction_);
  environment_->Check(status, "cannot read");
  SeekToFirst();
}

LMDBCursor::~LMDBCursor() {
  mdb_cursor_close(cursor_);
  mdb_txn_abort(transaction_);
}

void LMDBCursor::SeekToFirst() { Move(MDB_FIRST); }
void LMDBCursor::Next() { Move(MDB_NEXT); }

bool LMDBCursor::Seek(const string& key) {
  if (key.empty()) return false;  // LMDB has no such keys.
  Move(MDB_SET_KEY, key);
  return valid_;
}

void LMDBCursor::Move(int operation, std::string_view wanted) {
  MDB_val key = ToLmdb(wanted);
  MDB_val value = {};
  const int status = mdb_cursor_get(cursor_, &key, &value,
                                    static_cast<MDB_cursor_op>(operation));
  valid_ = status == MDB_SUCCESS;
  if (status == MDB_NOTFOUND) return;
  environment_->Check(status, "cannot read");
  key_ = FromLmdb(key);
  value_ = FromLmdb(value);
}

LMDBTransaction::LMDBTransaction(shared_ptr<LMDBEnvironment> environment)
    : environment_(std::move(environment)) {}
LMDBTransaction::~LMDBTransaction() = default;

void LMDBTransaction::Put(const string& key, const string& value) {
  records_.emplace_back(key, value);
}

void LMDBTransaction::Commit() {
  while (TryToCommit() == MDB_MAP_FULL) environment_->DoubleMapSize();
  records_.clear();
}

int LMDBTransaction::TryToCommit() {
  MDB_txn* const transaction = environment_->Begin(0);
  for (const auto& [key, value] : records_) {
    MDB_val key_view = ToLmdb(key);
    MDB_val value_view = ToLmdb(value);
    const int status = mdb_put(transaction, environment_->database(), &key_view,
                               &value_view, 0);
    if (status == MDB_SUCCESS) continue;
    mdb_txn_abort(transaction);
    if (status == MDB_MAP_FULL) return status;
    environment_->Check(status, "cannot write");
  }
  const int status = mdb_txn_commit(transaction);
  if (status != MDB_MAP_FULL) environment_->Check(status, "cannot write");
  return status;
}

LMDB::LMDB() = default;
LMDB::~LMDB() = default;

void LMDB::Open(const string& source, Mode mode) {
  Close();
  const auto make = [&] {
    return boost::make_shared<LMDBEnvironment>(source, mode);
  };
  environment_ = mode == READ ? Environments().GetOrMake(source, make)
                              : Environments().Make(source, make);
}

LMDBCursor* LMDB::NewCursor() {
  CHECK(environment_ != nullptr) << "the database is not open";
  return new LMDBCursor(environment_);
}

LMDBTransaction* LMDB::NewTransaction() {
  CHECK(environment_ != nullptr && environment_->is_writable())
      << "the database is not open for writing";
  return new LMDBTransaction(environment_);
}

DB* NewLMDB() { return new LMDB(); }

}  // namespace caffe::db
