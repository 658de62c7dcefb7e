#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "caffe/compress/codec.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"

// The promises of sz on a million generated cases: all kinds of values (also
// denormal, huge, infinite, not a number), shapes of one to six axes, bounds
// that make sense and bounds that do not, both levels, roundings and types.
namespace caffe::codec {
namespace {

constexpr int kCases = 1000000;
// Cases that one generator makes; its seed is the number of the chunk.
constexpr int kChunk = 1000;

// One thread's memory, used again for every case.
template <typename T>
struct Workspace {
  Context context;
  std::vector<uint8_t> frame;
  std::vector<uint8_t> frame_again;
  std::vector<T> restored;
  std::vector<T> restored_again;
};

template <typename T>
struct Case {
  TestTensor<T> tensor;
  Settings settings;
};

template <typename T>
Case<T> RandomCase(TensorGenerator& generator, int64_t values) {
  Case<T> result;
  result.tensor = generator.RandomTensor<T>(values);
  Settings& settings = result.settings;
  settings.bound = generator.RandomBound(result.tensor.values);
  settings.level = generator.Below(2) == 0 ? Level::kFast : Level::kDense;
  settings.rounding =
      generator.Below(2) == 0 ? Rounding::kNearest : Rounding::kDither;
  settings.seed = generator.Below(1000);
  settings.checksum = generator.Below(2) == 0;
  return result;
}

template <typename T>
void Pack(const Codec& sz, const Case<T>& c, const std::vector<T>& values,
          Context& context, std::vector<uint8_t>* frame) {
  const ConstTensor in(values.data(), c.tensor.shape);
  frame->resize(sz.MaxBytes(in.shape, in.type));
  frame->resize(sz.Compress(in, c.settings, context, *frame));
}

// What is wrong with the case, or "".
template <typename T>
std::string WrongWith(const Codec& sz, const Case<T>& c,
                      Workspace<T>* workspace) {
  const std::vector<T>& values = c.tensor.values;
  Pack(sz, c, values, workspace->context, &workspace->frame);
  workspace->restored.resize(values.size());
  sz.Decompress(workspace->frame, {}, workspace->context,
                std::span<T>(workspace->restored));
  std::string broken =
      BrokenPromise(sz, values, workspace->restored, c.settings);
  if (!broken.empty() || c.settings.rounding == Rounding::kDither) {
    return broken;
  }
  // Nearest values are their own nearest values.
  Pack(sz, c, workspace->restored, workspace->context, &workspace->frame_again);
  workspace->restored_again.resize(values.size());
  sz.Decompress(workspace->frame_again, {}, workspace->context,
                std::span<T>(workspace->restored_again));
  return SameBits(workspace->restored, workspace->restored_again)
             ? ""
             : "compressing again changes values";
}

template <typename T>
void RunChunks(int first, int last) {
  const Codec& sz = FindCodec("sz");
  std::mutex mutex;
  std::string failures;
  std::atomic<int> done = 0;
#pragma omp parallel
  {
    Workspace<T> workspace;
#pragma omp for schedule(dynamic)
    for (int chunk = first; chunk < last; ++chunk) {
      TensorGenerator generator(chunk);
      for (int i = 0; i < kChunk; ++i) {
        // Most are tiny; some have several lanes full.
        const Case<T> c =
            RandomCase<T>(generator, i % 100 == 0 ? 3000 : 1 + i % 60);
        const std::string wrong = WrongWith(sz, c, &workspace);
        ++done;
        if (wrong.empty()) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        failures += "chunk " + std::to_string(chunk) + ", case " +
                    std::to_string(i) + ": " + wrong + "\n";
        break;
      }
    }
  }
  EXPECT_EQ("", failures);
  EXPECT_EQ((last - first) * kChunk, done);
}

constexpr int kChunks = kCases / kChunk;

TEST(SzProperties, HoldForFloats) { RunChunks<float>(0, kChunks * 3 / 4); }

TEST(SzProperties, HoldForDoubles) {
  RunChunks<double>(kChunks * 3 / 4, kChunks);
}

template <typename T>
void ExpectSameEverywhere(int cases, int64_t values) {
  const Codec& sz = FindCodec("sz");
  TensorGenerator generator(static_cast<uint32_t>(cases));
  Workspace<T> workspace;
  for (int i = 0; i < cases; ++i) {
    const Case<T> c = RandomCase<T>(generator, values);
    ASSERT_EQ("", WrongWith(sz, c, &workspace));
    const std::vector<uint8_t> frame = workspace.frame;
    const std::vector<T> restored = workspace.restored;
    const auto expect_same = [&](const std::string& with) {
      ASSERT_EQ("", WrongWith(sz, c, &workspace)) << with;
      EXPECT_EQ(frame, workspace.frame) << with << ", case " << i;
      EXPECT_TRUE(SameBits(restored, workspace.restored))
          << with << ", case " << i;
    };
    ForEachTarget(expect_same);
    for (const int n : {1, 3}) {
      WithThreads(n, [&] { expect_same(std::to_string(n) + " threads"); });
    }
  }
}

TEST(SzProperties, BytesDependOnNeitherTargetNorThreads) {
  ExpectSameEverywhere<float>(3000, 200);
  ExpectSameEverywhere<double>(500, 200);
  ExpectSameEverywhere<float>(20, 100000);
}

}  // namespace
}  // namespace caffe::codec
