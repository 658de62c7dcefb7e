#include "caffe/util/io.hpp"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "util/atomic_file.hpp"
#include "util/first_error.hpp"
#include "util/system_error.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

// Deeper than any net, shallower than the stack.
constexpr int kMaxTextNesting = 100;

// A file opened for reading; closes itself.
class InputFile {
 public:
  explicit InputFile(const char* filename)
      : descriptor_(open(filename, O_RDONLY | O_CLOEXEC)) {
    Require(descriptor_ >= 0, "cannot read ", filename, ": ",
            SystemMessage(errno));
    fstat(descriptor_, &status_);
    if (!S_ISDIR(status_.st_mode)) return;
    close(descriptor_);
    Fail("cannot read ", filename, ": ", SystemMessage(EISDIR));
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  int64_t size() const { return status_.st_size; }

 private:
  const int descriptor_;
  struct stat status_ = {};
};

void ReadText(const char* filename, Message* proto) {
  const InputFile file(filename);
  pb::io::FileInputStream stream(file.descriptor());
  FirstError error(filename);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxTextNesting);
  const bool parsed = parser.Parse(&stream, proto);
  Require(stream.GetErrno() == 0, "cannot read ", filename, ": ",
          SystemMessage(stream.GetErrno()));
  if (parsed) return;
  Require(error.message().empty(), error.message());
  Fail(filename, " is not a ", proto->GetTypeName(), " in text form");
}

// Another kind of message often parses: all its fields are unknown ones then.
bool IsForeign(const Message& proto) {
  const pb::Reflection& reflection = *proto.GetReflection();
  vector<const pb::FieldDescriptor*> known;
  reflection.ListFields(proto, &known);
  return known.empty() && !reflection.GetUnknownFields(proto).empty();
}

void ReadBinary(const char* filename, Message* proto) {
  const InputFile file(filename);
  // Even a message without any field is not worth a file.
  Require(!file.is_regular() || file.size() > 0, filename, " is empty");
  Require(file.size() <= INT_MAX, filename,
          " is larger than the 2 GiB that protobuf can read; use HDF5 for "
          "weights of this size");
  pb::io::FileInputStream stream(file.descriptor());
  pb::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT_MAX);
  const bool parsed = proto->ParsePartialFromCodedStream(&coded) &&
                      coded.ConsumedEntireMessage();
  Require(stream.GetErrno() == 0, "cannot read ", filename, ": ",
          SystemMessage(stream.GetErrno()));
  Require(parsed && !IsForeign(*proto), filename,
          " is damaged, cut short or not a binary ", proto->GetTypeName());
  Require(proto->IsInitialized(), filename, " lacks ",
          proto->InitializationErrorString());
}

// Runs a function that throws Error; false, with the reason in the log, when
// it did.
bool Succeeds(const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    LOG(ERROR) << error.what();
    return false;
  }
}

// Calls write(stream), which returns whether it succeeded, on a stream that
// becomes the file.
template <typename Write>
void WriteFile(const char* filename, const Write& write) {
  AtomicFile file(filename);
  const int descriptor =
      open(file.temporary_name().c_str(), O_WRONLY | O_CLOEXEC);
  Require(descriptor >= 0, "cannot write ", filename, ": ",
          SystemMessage(errno));
  pb::io::FileOutputStream stream(descriptor);
  const bool written = write(&stream);
  // Close() flushes: it is where a full disk shows.
  const bool closed = stream.Close();
  Require(written && closed, "cannot write ", filename, ": ",
          stream.GetErrno() != 0 ? SystemMessage(stream.GetErrno())
                                 : "the message cannot be serialized");
  file.Commit();
}

}  // namespace

void MakeTempDir(string* temp_dirname) {
  string name = (fs::temp_directory_path() / "caffe_test.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    Fail("cannot create folder ", name, ": ", SystemMessage(errno));
  }
  *temp_dirname = name;
}

void MakeTempFilename(string* temp_filename) {
  // One folder a process; names in it are never used twice.
  static const string folder = [] {
    string name;
    MakeTempDir(&name);
    return name;
  }();
  static std::atomic<int> next = 0;
  *temp_filename = Concat(folder, "/", next++);
}

void ReadProtoFromTextFileOrDie(const char* filename, Message* proto) {
  ReadText(filename, proto);
}

bool ReadProtoFromTextFile(const char* filename, Message* proto) {
  return Succeeds([&] { ReadText(filename, proto); });
}

void WriteProtoToTextFile(const Message& proto, const char* filename) {
  WriteFile(filename, [&](pb::io::ZeroCopyOutputStream* stream) {
    return pb::TextFormat::Print(proto, stream);
  });
}

void ReadProtoFromBinaryFileOrDie(const char* filename, Message* proto) {
  ReadBinary(filename, proto);
}

bool ReadProtoFromBinaryFile(const char* filename, Message* proto) {
  return Succeeds([&] { ReadBinary(filename, proto); });
}

void WriteProtoToBinaryFile(const Message& proto, const char* filename) {
  Require(proto.IsInitialized(), "cannot write ", filename, ": it lacks ",
          proto.InitializationErrorString());
  Require(proto.ByteSizeLong() <= INT_MAX, "cannot write ", filename,
          ": it would be larger than the 2 GiB that protobuf can write; use "
          "snapshot_format: HDF5");
  WriteFile(filename, [&](pb::io::ZeroCopyOutputStream* stream) {
    return proto.SerializePartialToZeroCopyStream(stream);
  });
}

}  // namespace caffe
