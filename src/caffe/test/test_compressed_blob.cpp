#include <omp.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/compress/compressed_blob.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "wrapped_codec.hpp"

// How a tensor is cut into frames, and who packs them.

namespace caffe {

namespace {

// Counts the frames, and how deep in parallel regions they were packed.
class WatchingCodec : public WrappedCodec {
 public:
  size_t Compress(const codec::ConstTensor& in, const codec::Settings& settings,
                  codec::Context& context,
                  std::span<uint8_t> out) const override {
    ++frames;
    if (omp_get_level() > level) level = omp_get_level();
    Require(frames != fails_at, "had enough");
    return WrappedCodec::Compress(in, settings, context, out);
  }

  int fails_at = 0;
  mutable std::atomic<int> frames = 0;
  mutable std::atomic<int> level = 0;
};

std::vector<float> Numbers(int count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

std::vector<float> Unpacked(const CompressedBlob& blob) {
  std::vector<float> values(blob.raw_bytes() / sizeof(float));
  blob.Unpack(values.data());
  return values;
}

constexpr int kMegabyte = 1 << 18;  // in values

TEST(CompressedBlobTest, SeveralFramesGoToAllThreads) {
  const std::vector<float> values = Numbers(6 * kMegabyte);
  PackingRoom room;
  CompressedBlob blob(&room, "blob");
  const WatchingCodec codec;
  // Two images of a megabyte in a frame.
  blob.Pack({values.data(), codec::Shape({6, kMegabyte})}, codec, {});
  EXPECT_EQ(3, codec.frames);
  EXPECT_EQ(1, codec.level);
  EXPECT_EQ(values, Unpacked(blob));
}

// From within a region, even of one thread, OpenMP starts threads anew for
// every loop, next to those that wait for the next region.
TEST(CompressedBlobTest, OneFrameLeavesThreadsToTheCodec) {
  const std::vector<float> values = Numbers(3 * kMegabyte);
  PackingRoom room;
  CompressedBlob blob(&room, "blob");
  const WatchingCodec codec;
  blob.Pack({values.data(), codec::Shape({1, 3 * kMegabyte})}, codec, {});
  EXPECT_EQ(1, codec.frames);
  EXPECT_EQ(0, codec.level);
  EXPECT_EQ(values, Unpacked(blob));
}

TEST(CompressedBlobTest, IsEmptyAfterACodecHasFailed) {
  const std::vector<float> values = Numbers(6 * kMegabyte);
  PackingRoom room;
  CompressedBlob blob(&room, "blob");
  for (const int images : {1, 6}) {
    WatchingCodec codec;
    codec.fails_at = images == 1 ? 1 : 2;
    EXPECT_THROW(blob.Pack({values.data(),
                            codec::Shape({images, 6 * kMegabyte / images})},
                           codec, {}),
                 Error);
    EXPECT_TRUE(blob.empty());
    EXPECT_EQ(0, room.frames().used());
  }
}

}  // namespace

}  // namespace caffe
