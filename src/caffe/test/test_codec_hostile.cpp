#include <gtest/gtest.h>

#include "caffe/compress/codec.hpp"
#include "caffe/error.hpp"
#include "codec_any_frame.hpp"
#include "codec_test_util.hpp"

// Damaged frames: an Error where there are checksums; no read or write out of
// bounds where there are none, which is for the address sanitizer to find.
namespace caffe::codec {
namespace {

// Small frames of all kinds of blocks.
template <typename T>
std::vector<std::vector<uint8_t>> SmallFrames(const Codec& codec,
                                              bool checksum) {
  TensorGenerator generator(1);
  std::vector<std::vector<uint8_t>> frames;
  const auto add = [&](TensorGenerator::Kind kind, const Shape& shape) {
    const auto tensor = generator.Tensor<T>(kind, shape);
    double sum = 0;
    for (const T v : tensor.values) sum += std::isfinite(v) ? std::abs(v) : 0;
    for (Settings settings : AllSettings(0.1 * sum / tensor.values.size())) {
      // The other half of the settings differs too little.
      if ((settings.level == Level::kFast) !=
          (settings.rounding == Rounding::kNearest)) {
        continue;
      }
      settings.checksum = checksum;
      frames.push_back(Pack(codec, tensor, settings));
    }
  };
  add(TensorGenerator::kSmoothRelu, {2, 2, 9, 5});
  add(TensorGenerator::kSparse, {3, 70});
  add(TensorGenerator::kSmooth, {2, 1, 8, 10});
  if (sizeof(T) == 4) {
    add(TensorGenerator::kWild, {40});
    add(TensorGenerator::kZeros, {1, 3, 10, 10});
  }
  return frames;
}

class HostileTest : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }

  // Runs body(frame) for small frames of both types.
  template <typename Body>
  void ForSmallFrames(bool checksum, const Body& body) {
    for (const auto& frame : SmallFrames<float>(codec(), checksum)) {
      body(frame);
    }
    for (const auto& frame : SmallFrames<double>(codec(), checksum)) {
      body(frame);
    }
  }

  // In memory of exactly that size.
  bool Decodes(std::span<const uint8_t> frame) {
    const std::vector<uint8_t> copy(frame.begin(), frame.end());
    return DecodesAnything(copy, context_);
  }

  Context context_;
};

TEST_P(HostileTest, EveryFlippedBitIsNoticed) {
  ForSmallFrames(true, [&](const std::vector<uint8_t>& frame) {
    ASSERT_TRUE(Decodes(frame));
    ForFlips(frame, [&](const std::vector<uint8_t>& flipped, size_t bit) {
      EXPECT_FALSE(Decodes(flipped)) << "bit " << bit;
    });
  });
}

TEST_P(HostileTest, EveryTruncationIsNoticed) {
  for (const bool checksum : {true, false}) {
    ForSmallFrames(checksum, [&](const std::vector<uint8_t>& frame) {
      for (size_t size = 0; size < frame.size(); ++size) {
        EXPECT_FALSE(Decodes(std::span(frame).first(size))) << size;
      }
      auto longer = frame;
      longer.push_back(0);
      EXPECT_FALSE(Decodes(longer));
    });
  }
}

TEST_P(HostileTest, FlippedBitsDoNoHarmWithoutChecksum) {
  ForSmallFrames(false, [&](const std::vector<uint8_t>& frame) {
    ASSERT_TRUE(Decodes(frame));
    ForFlips(frame, [&](const std::vector<uint8_t>& flipped, size_t) {
      Decodes(flipped);
    });
  });
}

TEST_P(HostileTest, GarbageDoesNoHarmWithoutChecksum) {
  TensorGenerator random(2);
  ForSmallFrames(false, [&](const std::vector<uint8_t>& frame) {
    const auto header = Inspect(frame);
    const size_t payload = 32 + 8 * header.shape.axes;
    for (int i = 0; i < 1000; ++i) {
      // The header stays, mostly, so that the codec has something to do.
      auto garbage = frame;
      const size_t first =
          i % 4 == 0 ? 0 : payload + random.Below(frame.size() - payload + 1);
      const uint32_t bytes = 1 + random.Below(i % 8 == 0 ? 100 : 8);
      for (size_t at = first; at < std::min(frame.size(), first + bytes);
           ++at) {
        // Extreme numbers are more likely to be in nobody's mind.
        const uint32_t kind = random.Below(4);
        garbage[at] = static_cast<uint8_t>(kind == 0   ? 0
                                           : kind == 1 ? 255
                                                       : random.Below(256));
      }
      Decodes(garbage);
    }
  });
}

TEST_P(HostileTest, LargeFramesWithManyBlocks) {
  TensorGenerator generator(3);
  const auto tensor =
      generator.Tensor<float>(TensorGenerator::kSmoothRelu, {4, 8, 40, 100});
  for (const bool checksum : {true, false}) {
    const auto frame =
        Pack(codec(), tensor, {.bound = 0.01, .checksum = checksum});
    for (int i = 0; i < 60; ++i) {
      auto damaged = frame;
      const size_t bit =
          generator.Below(static_cast<uint32_t>(8 * frame.size()));
      damaged[bit / 8] ^= 1u << bit % 8;
      const bool decodes = Decodes(damaged);
      if (checksum) {
        EXPECT_FALSE(decodes) << "bit " << bit;
      }
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<const Codec*>& info) {
  return std::string(info.param->name());
}

INSTANTIATE_TEST_SUITE_P(All, HostileTest,
                         ::testing::ValuesIn(Codecs().begin(), Codecs().end()),
                         NameOf);

TEST(Hostile, NoFrameAtAll) {
  Context context;
  EXPECT_FALSE(DecodesAnything({}, context));
  const std::vector<uint8_t> zeros(100);
  EXPECT_FALSE(DecodesAnything(zeros, context));
  EXPECT_THROW(Inspect(zeros), Error);
}

}  // namespace
}  // namespace caffe::codec
