#include "caffe/util/db.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using db::READ;
using db::WRITE;
using std::unique_ptr;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

using Records = vector<pair<string, string>>;

unique_ptr<db::DB> OpenDB(const string& backend, const string& path,
                          db::Mode mode) {
  unique_ptr<db::DB> database(db::GetDB(backend));
  database->Open(path, mode);
  return database;
}

void Put(db::DB* database, const Records& records) {
  const unique_ptr<db::Transaction> transaction(database->NewTransaction());
  for (const auto& [key, value] : records) transaction->Put(key, value);
  transaction->Commit();
}

Records ReadAll(db::DB* database) {
  Records records;
  const unique_ptr<db::Cursor> cursor(database->NewCursor());
  for (; cursor->valid(); cursor->Next()) {
    records.emplace_back(cursor->key(), cursor->value());
  }
  return records;
}

Records ReadAll(const string& backend, const string& path) {
  return ReadAll(OpenDB(backend, path, READ).get());
}

// `bytes` of contents that differ from record to record.
Records MakeRecords(int number, int bytes) {
  Records records;
  for (int i = 0; i < number; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "%08d", i);
    string value(bytes, '\0');
    for (int j = 0; j < bytes; ++j) value[j] = static_cast<char>(i * 7 + j);
    records.emplace_back(key, value);
  }
  return records;
}

// What both backends have in common.
class DBTest : public testing::TestWithParam<const char*> {
 protected:
  unique_ptr<db::DB> Open(db::Mode mode) const {
    return OpenDB(GetParam(), path_, mode);
  }

  const TemporaryFolder folder_;
  const string path_ = folder_ / "db";
};

TEST_P(DBTest, KeepsRecordsInTheOrderOfKeys) {
  const string binary("\0\xff\n", 3);
  Put(Open(db::NEW).get(), {{"b", "2"}, {"c", ""}, {"a", binary}});
  EXPECT_EQ((Records{{"a", binary}, {"b", "2"}, {"c", ""}}),
            ReadAll(Open(READ).get()));
}

TEST_P(DBTest, CursorsStartAgain) {
  Put(Open(db::NEW).get(), {{"a", "1"}, {"b", "2"}});
  const auto database = Open(READ);
  const unique_ptr<db::Cursor> cursor(database->NewCursor());
  EXPECT_EQ("a", cursor->key());
  cursor->Next();
  EXPECT_EQ("b", cursor->key());
  cursor->Next();
  EXPECT_FALSE(cursor->valid());
  cursor->SeekToFirst();
  ASSERT_TRUE(cursor->valid());
  EXPECT_EQ("1", cursor->value());
}

TEST_P(DBTest, CursorsFindKeys) {
  Put(Open(db::NEW).get(), {{"a", "1"}, {"bb", "2"}, {"c", "3"}});
  const auto database = Open(READ);
  const unique_ptr<db::Cursor> cursor(database->NewCursor());
  for (const char* const missing : {"", "b", "bbb", "d", "\xff"}) {
    EXPECT_FALSE(cursor->Seek(missing)) << missing;
  }
  ASSERT_TRUE(cursor->Seek("bb"));
  EXPECT_TRUE(cursor->valid());
  EXPECT_EQ("bb", cursor->key());
  EXPECT_EQ("2", cursor->value());
  cursor->Next();
  EXPECT_EQ("c", cursor->key());
  EXPECT_TRUE(cursor->Seek("a"));
  EXPECT_EQ("1", cursor->value());
  // What a cursor that cannot do better does.
  EXPECT_TRUE(cursor->Cursor::Seek("c"));
  EXPECT_EQ("3", cursor->value());
  EXPECT_FALSE(cursor->Cursor::Seek("b"));
}

TEST_P(DBTest, AddsAndReplaces) {
  Put(Open(db::NEW).get(), {{"a", "1"}, {"b", "2"}});
  {
    const auto database = Open(WRITE);
    Put(database.get(), {{"b", "3"}});
    Put(database.get(), {{"c", "4"}});
    // Nobody commits this one.
    const unique_ptr<db::Transaction> dropped(database->NewTransaction());
    dropped->Put("d", "5");
  }
  EXPECT_EQ((Records{{"a", "1"}, {"b", "3"}, {"c", "4"}}),
            ReadAll(Open(READ).get()));
}

TEST_P(DBTest, GrowsAsNeeded) {
  // Several times the size LMDB starts with, part of it in one transaction.
  const Records records = MakeRecords(1000, 60000);
  {
    const auto database = Open(db::NEW);
    Put(database.get(), Records(records.begin(), records.begin() + 100));
    Put(database.get(), Records(records.begin() + 100, records.end()));
  }
  EXPECT_TRUE(records == ReadAll(Open(READ).get()));
}

TEST_P(DBTest, AnEmptyDatabaseHasNoRecords) {
  Open(db::NEW);
  EXPECT_TRUE(ReadAll(Open(READ).get()).empty());
}

TEST_P(DBTest, ManyReadersShareADatabase) {
  const Records records = MakeRecords(500, 100);
  Put(Open(db::NEW).get(), records);
  vector<unique_ptr<db::DB>> databases;
  vector<unique_ptr<db::Cursor>> cursors;
  for (int i = 0; i < 300; ++i) {
    databases.push_back(Open(READ));
    cursors.emplace_back(databases.back()->NewCursor());
  }
  databases.resize(1);
  for (const auto& cursor : cursors) EXPECT_EQ("00000000", cursor->key());
  std::atomic<int> right = 0;
  vector<std::thread> threads(8);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      const auto database = Open(READ);
      for (int repeat = 0; repeat < 5; ++repeat) {
        right += ReadAll(database.get()) == records;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(8 * 5, right);
}

TEST_P(DBTest, ReadsWhatIsBeingWritten) {
  const auto writer = Open(db::NEW);
  Put(writer.get(), {{"a", "1"}});
  EXPECT_EQ((Records{{"a", "1"}}), ReadAll(Open(READ).get()));
  EXPECT_THAT(ErrorOf([&] { Open(WRITE); }),
              AllOf(HasSubstr(path_), HasSubstr("open already")));
}

TEST_P(DBTest, CursorsOutliveTheirDatabase) {
  Put(Open(db::NEW).get(), {{"a", "1"}, {"b", "2"}});
  const unique_ptr<db::Cursor> cursor(Open(READ)->NewCursor());
  cursor->Next();
  EXPECT_EQ("2", cursor->value());
}

TEST_P(DBTest, ErrorsNameTheDatabase) {
  EXPECT_THAT(ErrorOf([&] { Open(READ); }), HasSubstr(path_));
  EXPECT_FALSE(fs::exists(path_)) << "reading must not create anything";
  fs::create_directory(path_);
  EXPECT_THAT(ErrorOf([&] { Open(READ); }), HasSubstr(path_));
  EXPECT_TRUE(fs::is_empty(path_)) << "reading must not create anything";
  Put(Open(WRITE).get(), {{"a", "1"}});
  EXPECT_THAT(ErrorOf([&] { Open(db::NEW); }),
              AllOf(HasSubstr(path_), HasSubstr("xists")));
  EXPECT_EQ((Records{{"a", "1"}}), ReadAll(Open(READ).get()));
  WriteWholeFile(folder_ / "file", "text");
  EXPECT_THAT(ErrorOf([&] { OpenDB(GetParam(), folder_ / "file", READ); }),
              HasSubstr(folder_ / "file"));
}

#ifdef USE_LEVELDB
INSTANTIATE_TEST_SUITE_P(Backends, DBTest, testing::Values("lmdb", "leveldb"));

TEST_P(DBTest, OtherBackendIsNamed) {
  const string other = GetParam() == string("lmdb") ? "leveldb" : "lmdb";
  Put(OpenDB(other, path_, db::NEW).get(), {{"a", "1"}});
  EXPECT_THAT(ErrorOf([&] { Open(READ); }),
              AllOf(HasSubstr(path_), HasSubstr("use backend: ")));
}
#else
INSTANTIATE_TEST_SUITE_P(Backends, DBTest, testing::Values("lmdb"));

TEST(GetDBTest, MissingBackendIsNamed) {
  EXPECT_THAT(ErrorOf([] { db::GetDB("leveldb"); }),
              HasSubstr("built without LevelDB"));
}
#endif

TEST(GetDBTest, KnowsNamesAndNumbers) {
  const unique_ptr<db::DB> lmdb(db::GetDB(DataParameter::LMDB));
  EXPECT_NE(nullptr, lmdb);
  EXPECT_EQ("unknown database backend \"sqlite\"; there are leveldb and lmdb",
            ErrorOf([] { db::GetDB("sqlite"); }));
}

// Damage of LMDB's one file.
class LMDBFileTest : public ::testing::Test {
 protected:
  // Records within pages, and on pages of their own.
  void Create(int number, int bytes) {
    Put(OpenDB("lmdb", path_, db::NEW).get(), MakeRecords(number, bytes));
    bytes_ = ReadWholeFile(file_);
  }
  string OpenError() const {
    return ErrorOf([&] { OpenDB("lmdb", path_, READ); });
  }

  const TemporaryFolder folder_;
  const string path_ = folder_ / "db";
  const string file_ = path_ + "/data.mdb";
  string bytes_;
};

TEST_F(LMDBFileTest, EveryCutIsFound) {
  for (const int record_bytes : {100, 5000}) {
    Create(200, record_bytes);
    // Down to two pages, an odd number of bytes, one page less than all.
    for (const size_t size :
         {size_t{1}, size_t{100}, size_t{4096}, size_t{8192}, size_t{12345},
          bytes_.size() / 2, bytes_.size() - 4096, bytes_.size() - 1}) {
      fs::resize_file(file_, size);
      EXPECT_THAT(OpenError(), HasSubstr(path_)) << size;
      WriteWholeFile(file_, bytes_);
    }
    EXPECT_EQ(200, ReadAll("lmdb", path_).size());
    fs::remove_all(path_);
  }
}

TEST_F(LMDBFileTest, EmptyAndForeignFilesAreErrors) {
  Create(10, 100);
  WriteWholeFile(file_, "");
  EXPECT_EQ("LMDB database " + path_ + " is empty", OpenError());
  WriteWholeFile(file_, string(100000, 'x'));
  EXPECT_THAT(OpenError(), HasSubstr(path_));
  WriteWholeFile(file_, string(100000, '\0'));
  EXPECT_THAT(OpenError(), HasSubstr(path_));
}

// Whatever happened to the pages, reading ends with records or an error.
TEST_F(LMDBFileTest, DamagedPagesDoNotCrash) {
  Create(200, 100);
  unsigned int random = 1;
  const auto next = [&] { return random = random * 1664525 + 1013904223; };
  int errors = 0;
  for (int trial = 0; trial < 300; ++trial) {
    string damaged = bytes_;
    const size_t page = next() / 7 % (bytes_.size() / 4096) * 4096;
    for (int i = 0; i < 4; ++i) {
      // Headers and node offsets more often than records.
      const size_t at = page + next() / 7 % (trial % 2 == 0 ? 64 : 4096);
      damaged[at] = static_cast<char>(next() >> 24);
    }
    WriteWholeFile(file_, damaged);
    try {
      ReadAll("lmdb", path_);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_));
      ++errors;
    }
  }
  EXPECT_GT(errors, 50);
}

TEST_F(LMDBFileTest, PagesInACircleAreFound) {
  Create(2000, 100);
  const size_t pages = bytes_.size() / 4096;
  for (size_t page = 2; page < pages; ++page) {
    string damaged = bytes_;
    uint16_t flags = 0;
    std::memcpy(&flags, &damaged[page * 4096 + 10], sizeof(flags));
    if ((flags & 1) == 0) continue;
    // The first child of the branch page becomes the page itself.
    uint16_t node = 0;
    std::memcpy(&node, &damaged[page * 4096 + 16], sizeof(node));
    const auto number = static_cast<uint16_t>(page);
    std::memcpy(&damaged[page * 4096 + node], &number, sizeof(number));
    WriteWholeFile(file_, damaged);
    EXPECT_THAT(OpenError(), HasSubstr("is damaged"));
    return;
  }
  FAIL() << "no branch page found";
}

// Runs body in a child process, which exits with 0 unless an expectation
// fails.
void InChild(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(LMDBFileTest, ReadsFromReadOnlyFolders) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  Create(10, 100);
  fs::remove(path_ + "/lock.mdb");
  fs::permissions(folder_.path(), fs::perms{0755});
  fs::permissions(path_, fs::perms{0755});
  fs::permissions(file_, fs::perms{0644});
  InChild([&] {
    ASSERT_EQ(0, setuid(65534));
    ASSERT_NE(0, access(path_.c_str(), W_OK));
    EXPECT_EQ(10, ReadAll("lmdb", path_).size());
  });
  EXPECT_FALSE(fs::exists(path_ + "/lock.mdb"));
}

TEST_F(LMDBFileTest, FullDiskIsAnError) {
  Create(10, 100);
  InChild([&] {
    const rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const auto database = OpenDB("lmdb", path_, WRITE);
    EXPECT_THAT(ErrorOf([&] { Put(database.get(), MakeRecords(100, 5000)); }),
                HasSubstr("cannot write LMDB database " + path_));
  });
  EXPECT_EQ(10, ReadAll("lmdb", path_).size());
}

TEST_F(LMDBFileTest, FollowsAWriterInAnotherProcess) {
  Create(10, 100);
  int ready[2] = {};
  ASSERT_EQ(0, pipe(ready));
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    (void)!read(ready[0], &byte, 1);
    // Enlarges the map beyond what the reader has mapped.
    Put(OpenDB("lmdb", path_, WRITE).get(), MakeRecords(3000, 10000));
    std::_Exit(0);
  }
  const auto reader = OpenDB("lmdb", path_, READ);
  EXPECT_EQ(10, ReadAll(reader.get()).size());
  ASSERT_EQ(1, write(ready[1], "x", 1));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
  EXPECT_TRUE(MakeRecords(3000, 10000) == ReadAll(reader.get()));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace caffe
