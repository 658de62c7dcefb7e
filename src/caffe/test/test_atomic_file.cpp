#include "util/atomic_file.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AtomicFileTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const string name_ = folder_ / "model";
};

TEST_F(AtomicFileTest, ReplacesTheFileOnlyAtCommit) {
  WriteWholeFile(name_, "old");
  AtomicFile file(name_);
  WriteWholeFile(file.temporary_name(), "new");
  EXPECT_EQ("old", ReadWholeFile(name_));
  file.Commit();
  EXPECT_EQ("new", ReadWholeFile(name_));
  EXPECT_THAT(folder_.Names(), ElementsAre("model"));
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    const AtomicFile file(name_);
    WriteWholeFile(file.temporary_name(), "new");
    EXPECT_EQ(1, folder_.Names().size());
  }
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(AtomicFileTest, TwoWritersDoNotDisturbEachOther) {
  AtomicFile first(name_);
  AtomicFile second(name_);
  WriteWholeFile(first.temporary_name(), "first");
  WriteWholeFile(second.temporary_name(), "second");
  first.Commit();
  EXPECT_EQ("first", ReadWholeFile(name_));
  second.Commit();
  EXPECT_EQ("second", ReadWholeFile(name_));
}

TEST_F(AtomicFileTest, KeepsSymbolicLinksAndPermissions) {
  const string real = folder_ / "real";
  WriteWholeFile(real, "old");
  chmod(real.c_str(), 0640);
  std::filesystem::create_symlink(real, name_);
  AtomicFile file(name_);
  WriteWholeFile(file.temporary_name(), "new");
  file.Commit();
  EXPECT_TRUE(std::filesystem::is_symlink(name_));
  EXPECT_EQ("new", ReadWholeFile(real));
  struct stat status = {};
  ASSERT_EQ(0, stat(real.c_str(), &status));
  EXPECT_EQ(0640, status.st_mode & 0777);
}

TEST_F(AtomicFileTest, WritesDirectlyToWhatIsNotAFile) {
  AtomicFile file("/dev/null");
  EXPECT_EQ("/dev/null", file.temporary_name());
  file.Commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, ErrorsNameTheFileAndTheReason) {
  const string missing = folder_ / "missing/model";
  EXPECT_EQ("cannot write " + missing + ": No such file or directory",
            ErrorOf([&] { AtomicFile file(missing); }));
  EXPECT_EQ("cannot write " + folder_.path() + ": Is a directory",
            ErrorOf([&] { AtomicFile file(folder_.path()); }));
  EXPECT_THAT(ErrorOf([&] {
                AtomicFile file(name_);
                std::filesystem::create_directory(name_);
                file.Commit();
              }),
              HasSubstr("cannot write " + name_));
}

// A limit on the size of files stands in for a full disk: write() fails.
[[noreturn]] void ExitWithErrorOfWriting(const Message& proto,
                                         const string& name) {
  const rlimit limit = {1000, 1000};
  setrlimit(RLIMIT_FSIZE, &limit);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    WriteProtoToBinaryFile(proto, name);
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    std::_Exit(1);
  }
  std::_Exit(0);
}

TEST_F(AtomicFileTest, FullDiskLeavesTheOldFileWhole) {
  Datum datum;
  datum.set_data("old");
  WriteProtoToBinaryFile(datum, name_);
  const string old = ReadWholeFile(name_);
  datum.set_data(string(100000, 'x'));
  EXPECT_EXIT(ExitWithErrorOfWriting(datum, name_), testing::ExitedWithCode(1),
              "cannot write .*model: File too large");
  EXPECT_EQ(old, ReadWholeFile(name_));
  EXPECT_THAT(folder_.Names(), ElementsAre("model"));
}

}  // namespace caffe
