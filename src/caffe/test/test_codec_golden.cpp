#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "caffe/compress/codec.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"
#include "golden_frames.hpp"
#include "plain_frame.hpp"
#include "plain_sz_decoder.hpp"

// Frames that were written once, and what they decode to: for ever, bit for
// bit. Encoders may come to write other frames for the same values.
namespace caffe::codec {
namespace {

const std::filesystem::path kFolder = TEST_DATA_DIR "/golden";
// A line for each frame: its name, and the XXH64 of its values' bytes.
const std::filesystem::path kChecksums = kFolder / "checksums.txt";

std::filesystem::path PathOf(const GoldenFrame& golden) {
  return kFolder / (golden.name + ".cfz");
}

template <typename T>
uint64_t HashOf(const std::vector<T>& values) {
  return Xxh64({reinterpret_cast<const uint8_t*>(values.data()),
                values.size() * sizeof(T)});
}

// Never over a frame that is there.
template <typename T>
void WriteIfMissing(const GoldenFrame& golden) {
  if (std::filesystem::exists(PathOf(golden))) return;
  const Codec& codec = FindCodec(golden.codec);
  const auto tensor = MakeTensor<T>(golden);
  const auto frame = Pack(codec, tensor, golden.settings);
  std::ofstream(PathOf(golden), std::ios::binary)
      .write(reinterpret_cast<const char*>(frame.data()),
             static_cast<std::streamsize>(frame.size()));
  std::ofstream(kChecksums, std::ios::app)
      << golden.name << ' ' << std::hex
      << HashOf(Unpack<T>(codec, frame, tensor.values.size())) << '\n';
}

std::vector<uint8_t> ReadFrame(const GoldenFrame& golden) {
  std::ifstream file(PathOf(golden), std::ios::binary);
  EXPECT_TRUE(file.is_open()) << PathOf(golden);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<std::string, uint64_t> ReadChecksums() {
  std::map<std::string, uint64_t> checksums;
  std::ifstream file(kChecksums);
  std::string name;
  uint64_t checksum = 0;
  while (file >> name >> std::hex >> checksum) checksums[name] = checksum;
  return checksums;
}

template <typename T>
void ExpectDecodes(const GoldenFrame& golden, uint64_t checksum) {
  const std::vector<uint8_t> frame = ReadFrame(golden);
  const FrameInfo info = Inspect(frame);
  const Codec& codec = FindCodec(info);
  EXPECT_EQ(golden.codec, codec.name());
  EXPECT_EQ(golden.shape, info.shape);
  EXPECT_EQ(golden.settings.checksum, info.has_checksum);
  const auto tensor = MakeTensor<T>(golden);
  ForEachTarget([&](const char* target) {
    const auto values = Unpack<T>(codec, frame, tensor.values.size());
    EXPECT_EQ(checksum, HashOf(values)) << target;
    EXPECT_EQ("", BrokenPromise(codec, tensor.values, values, golden.settings));
  });
  if (golden.codec == "sz") {
    EXPECT_EQ(checksum, HashOf(PlainSzDecode<T>(frame)));
  }
}

template <typename T>
void TestFrame(const GoldenFrame& golden) {
  SCOPED_TRACE(golden.name);
  if (std::getenv("CAFFE_WRITE_GOLDEN") != nullptr) WriteIfMissing<T>(golden);
  const auto checksums = ReadChecksums();
  ASSERT_EQ(1, checksums.count(golden.name));
  ExpectDecodes<T>(golden, checksums.at(golden.name));
}

TEST(CodecGolden, FramesDecodeForEver) {
  for (const GoldenFrame& golden : GoldenFrames()) {
    if (golden.is_double) {
      TestFrame<double>(golden);
    } else {
      TestFrame<float>(golden);
    }
  }
}

TEST(CodecGolden, EveryCodecHasFramesAndEveryFrameIsTested) {
  std::set<std::string> codecs;
  std::set<std::filesystem::path> paths = {kChecksums};
  for (const GoldenFrame& golden : GoldenFrames()) {
    codecs.insert(golden.codec);
    EXPECT_TRUE(paths.insert(PathOf(golden)).second) << golden.name;
  }
  for (const Codec* const codec : Codecs()) {
    EXPECT_EQ(1, codecs.count(std::string(codec->name()))) << codec->name();
  }
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_EQ(1, paths.count(file.path())) << file.path();
  }
}

}  // namespace
}  // namespace caffe::codec
