#include "report/tensorboard.hpp"

#include <glog/logging.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>

#include "caffe/error.hpp"

// TensorBoard reads protocol buffers: Event, Summary and SessionLog of
// TensorFlow. The few fields that are needed here are written by hand.

namespace caffe {

namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
// Fields of Event.
constexpr int kWallTime = 1;
constexpr int kStep = 2;
constexpr int kFileVersion = 3;
constexpr int kSummary = 5;
constexpr int kSessionLog = 7;
// Of Summary, of its values, and of SessionLog.
constexpr int kValue = 1;
constexpr int kTag = 1;
constexpr int kSimpleValue = 2;
constexpr int kStatus = 1;
constexpr int kStart = 1;

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

template <typename Integer>
std::string LittleEndian(Integer value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

std::string Key(int field, WireType type) {
  return Varint(static_cast<uint64_t>(field) << 3 | type);
}

std::string Field(int field, std::string_view bytes) {
  return Key(field, kBytes) + Varint(bytes.size()) + std::string(bytes);
}

std::string EventHead(int iteration) {
  const std::chrono::duration<double> since_epoch =
      std::chrono::system_clock::now().time_since_epoch();
  return Key(kWallTime, kFixed64) +
         LittleEndian(std::bit_cast<uint64_t>(since_epoch.count())) +
         Key(kStep, kVarint) + Varint(static_cast<uint64_t>(iteration));
}

uint32_t Masked(uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8U; }

std::string Filename(const std::string& folder) {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) std::strcpy(host, "unknown");
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  // TensorBoard reads files in the order of their names.
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch)
          .count() %
      1000000;
  char order[64];
  std::snprintf(order, sizeof(order), "%010lld.%06lld",
                static_cast<long long>(seconds),
                static_cast<long long>(micros));
  return Concat(folder, "/events.out.tfevents.", order, ".", host, ".",
                getpid());
}

void AddOutputs(const std::string& prefix,
                const std::vector<NetOutput>& outputs, Scalars* scalars) {
  for (const NetOutput& output : outputs) {
    scalars->emplace_back(prefix + output.name, output.value);
  }
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1) ^ (crc % 2 != 0 ? 0x82F63B78U : 0);
      }
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~crc;
}

std::string TensorBoardRecord(std::string_view bytes) {
  const std::string length = LittleEndian(uint64_t{bytes.size()});
  return length + LittleEndian(Masked(Crc32c(length))) + std::string(bytes) +
         LittleEndian(Masked(Crc32c(bytes)));
}

TensorBoardWriter::TensorBoardWriter(const std::string& folder,
                                     int first_iteration)
    : filename_(Filename(folder)), file_(filename_, std::ios::binary) {
  Require(file_.is_open(), "cannot write ", filename_, ": ",
          std::strerror(errno));
  WriteRecord(EventHead(0) + Field(kFileVersion, "brain.Event:2"));
  // Hides later steps of earlier files.
  WriteRecord(
      EventHead(first_iteration) +
      Field(kSessionLog, Key(kStatus, kVarint) + Varint(uint64_t{kStart})));
}

void TensorBoardWriter::WriteRecord(std::string_view event) {
  if (!file_.good()) return;
  file_ << TensorBoardRecord(event) << std::flush;
  // No reason to end a run.
  LOG_IF(WARNING, !file_.good())
      << "Cannot write " << filename_ << " any more: " << std::strerror(errno);
}

void TensorBoardWriter::Write(int iteration, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    summary += Field(
        kValue,
        Field(kTag, tag) + Key(kSimpleValue, kFixed32) +
            LittleEndian(std::bit_cast<uint32_t>(static_cast<float>(value))));
  }
  if (!summary.empty()) {
    WriteRecord(EventHead(iteration) + Field(kSummary, summary));
  }
}

void TensorBoardWriter::OnDisplay(const DisplayReport& display) {
  Scalars scalars = {{"train/loss", display.loss},
                     {"train/smoothed_loss", display.smoothed_loss},
                     {"train/learning_rate", display.learning_rate},
                     {"train/batch_size", display.batch_size}};
  if (display.images_per_second > 0) {
    scalars.emplace_back("train/images_per_second", display.images_per_second);
  }
  AddOutputs("train/output/", display.outputs, &scalars);
  Write(display.iteration, scalars);
}

void TensorBoardWriter::OnTest(const TestReport& test) {
  const std::string prefix =
      test.net == 0 ? "test/" : Concat("test_", test.net, "/");
  Scalars scalars;
  AddOutputs(prefix, test.outputs, &scalars);
  if (test.loss) scalars.emplace_back(prefix + "total_loss", *test.loss);
  Write(test.iteration, scalars);
}

void TensorBoardWriter::OnCompression(const CompressionProgress& progress) {
  Scalars scalars = {
      {"compression/ratio", progress.raw_bytes / progress.packed_bytes},
      {"compression/share_of_time", progress.share_of_time}};
  if (progress.worst >= 0) {
    scalars.emplace_back("compression/worst_error_over_bound", progress.worst);
  }
  if (details_.IsDue(progress.iteration)) {
    // A layer may read several tensors.
    std::map<std::string, int> inputs_of;
    for (const LayerInput& input : progress.inputs) {
      if (input.kept == "packed") ++inputs_of[input.layer];
    }
    for (const LayerInput& input : progress.inputs) {
      if (input.kept != "packed" || input.layer.empty()) continue;
      const std::string name = inputs_of[input.layer] > 1
                                   ? input.layer + "/" + input.tensor
                                   : input.layer;
      scalars.emplace_back("bound/" + name, input.bound);
      if (input.kept_bytes > 0) {
        scalars.emplace_back("ratio/" + name,
                             input.raw_bytes / input.kept_bytes);
      }
      if (input.sigma) {
        scalars.emplace_back("sigma_predicted/" + name, input.sigma->predicted);
        scalars.emplace_back("sigma_measured/" + name, input.sigma->measured);
      }
    }
  }
  Write(progress.iteration, scalars);
}

}  // namespace caffe
