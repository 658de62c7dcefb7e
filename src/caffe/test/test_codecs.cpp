#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "caffe/compress/codec.hpp"
#include "caffe/error.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"

// Every registered codec keeps its promises and the interface's.
namespace caffe::codec {
namespace {

constexpr size_t kCanaries = 64;
constexpr uint8_t kCanary = 0xA5;

// Compresses into exactly the room that is required.
template <typename T>
std::vector<uint8_t> PackTightly(const Codec& codec,
                                 const TestTensor<T>& tensor,
                                 const Settings& settings) {
  Context context;
  const ConstTensor in = tensor.view();
  const size_t room = codec.MaxBytes(in.shape, in.type);
  std::vector<uint8_t> frame(room + kCanaries, kCanary);
  const size_t size = codec.Compress(in, settings, context,
                                     std::span<uint8_t>(frame).first(room));
  EXPECT_LE(size, room);
  EXPECT_EQ(kCanaries, std::count(frame.begin() + room, frame.end(), kCanary));
  frame.resize(size);
  return frame;
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

class CodecTest : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }

  // Runs body(generator, T()) for float and double.
  template <typename Body>
  void ForBothTypes(uint32_t seed, const Body& body) {
    TensorGenerator generator(seed);
    body(generator, float());
    if (!HasFatalFailure()) body(generator, double());
  }
};

TEST_P(CodecTest, KeepsItsPromise) {
  ForBothTypes(1, [&](TensorGenerator& generator, auto zero) {
    using T = decltype(zero);
    for (int i = 0; i < 100; ++i) {
      // Mostly small ones, some of several blocks.
      const auto tensor =
          generator.RandomTensor<T>(i % 25 == 0 ? 300000 : 3000);
      for (const Settings& settings :
           AllSettings(generator.RandomBound(tensor.values))) {
        const auto frame = PackTightly(codec(), tensor, settings);
        const auto out = Unpack<T>(codec(), frame, tensor.values.size());
        ASSERT_EQ("", BrokenPromise(codec(), tensor.values, out, settings))
            << "case " << i;
        if (!codec().KeepsNonZeros(settings)) continue;
        for (size_t k = 0; k < out.size(); ++k) {
          ASSERT_EQ(tensor.values[k] == 0, out[k] == 0) << tensor.values[k];
        }
      }
    }
  });
}

TEST_P(CodecTest, KeepsItsPromiseForEveryKindOfValues) {
  ForBothTypes(2, [&](TensorGenerator& generator, auto zero) {
    using T = decltype(zero);
    for (int kind = 0; kind < TensorGenerator::kKinds; ++kind) {
      const auto tensor = generator.Tensor<T>(
          static_cast<TensorGenerator::Kind>(kind), Shape{3, 7, 41, 57});
      const Settings settings = {.bound = 0.01};
      const auto out =
          Unpack<T>(codec(), PackTightly(codec(), tensor, settings),
                    tensor.values.size());
      ASSERT_EQ("", BrokenPromise(codec(), tensor.values, out, settings))
          << "kind " << kind;
    }
  });
}

TEST_P(CodecTest, RestoresSomeImagesOfABatch) {
  ForBothTypes(3, [&](TensorGenerator& generator, auto zero) {
    using T = decltype(zero);
    for (const Shape& shape :
         {Shape{23, 9, 19, 37}, Shape{23, 3}, Shape{23}, Shape{23, 9001}}) {
      const auto tensor =
          generator.Tensor<T>(TensorGenerator::kSmoothRelu, shape);
      const size_t image = shape.image_values();
      const auto frame = PackTightly(codec(), tensor, {.bound = 0.02});
      const auto all = Unpack<T>(codec(), frame, tensor.values.size());
      for (const ImageRange range :
           {ImageRange{0, 1}, ImageRange{7, 3}, ImageRange{22, 1},
            ImageRange{4, 0}, ImageRange{23, 0}, ImageRange{20, -1}}) {
        const size_t count = range.count < 0 ? 23 - range.first : range.count;
        const auto begin = all.begin() + range.first * image;
        EXPECT_TRUE(SameBits(std::vector<T>(begin, begin + count * image),
                             Unpack<T>(codec(), frame, count * image, range)))
            << range.first;
      }
    }
  });
}

TEST_P(CodecTest, BytesDependOnNeitherTargetNorThreads) {
  ForBothTypes(4, [&](TensorGenerator& generator, auto zero) {
    using T = decltype(zero);
    for (int i = 0; i < 20; ++i) {
      const auto tensor =
          i < 3 ? generator.Tensor<T>(TensorGenerator::kSmoothRelu,
                                      Shape{4, 16, 32, 40 + i})
                : generator.RandomTensor<T>(3000);
      const Settings settings = {.bound = generator.RandomBound(tensor.values),
                                 .rounding = Rounding::kDither,
                                 .seed = 7};
      const auto frame = Pack(codec(), tensor, settings);
      const auto values = Unpack<T>(codec(), frame, tensor.values.size());
      const auto expect_same = [&](const std::string& with) {
        EXPECT_EQ(frame, Pack(codec(), tensor, settings)) << with;
        EXPECT_TRUE(
            SameBits(values, Unpack<T>(codec(), frame, tensor.values.size())))
            << with;
      };
      for (const int n : {1, 3}) {
        WithThreads(n, [&] { expect_same(std::to_string(n) + " threads"); });
      }
      ForEachTarget([&](const char* name) { expect_same(name); });
    }
  });
}

TEST_P(CodecTest, TheEstimateIsNearTheSize) {
  TensorGenerator generator(5);
  Context context;
  for (const auto kind : {TensorGenerator::kRelu, TensorGenerator::kNoise,
                          TensorGenerator::kSmooth, TensorGenerator::kSparse}) {
    const auto tensor = generator.Tensor<float>(kind, Shape{8, 32, 28, 28});
    double sum = 0;
    for (const float v : tensor.values) sum += std::abs(v);
    const Settings settings = {.bound = 0.1 * sum / tensor.values.size()};
    const double size = Pack(codec(), tensor, settings).size();
    EXPECT_NEAR(
        1, codec().EstimateBytes(tensor.view(), settings, context) / size, 0.15)
        << kind;
  }
}

TEST_P(CodecTest, EmptyTensorsAndSingleValues) {
  ForBothTypes(6, [&](TensorGenerator&, auto zero) {
    using T = decltype(zero);
    const Settings settings = {.bound = 0.5};
    Context context;
    for (const Shape& shape : {Shape{0}, Shape{0, 3, 5}, Shape{4, 0}}) {
      const TestTensor<T> empty{shape, {}};
      EXPECT_TRUE(
          Unpack<T>(codec(), PackTightly(codec(), empty, settings), 0).empty());
      EXPECT_LT(codec().EstimateBytes(empty.view(), settings, context), 2000);
    }
    const TestTensor<T> single{{}, {T(5.25)}};
    const auto out =
        Unpack<T>(codec(), PackTightly(codec(), single, settings), 1);
    EXPECT_EQ("", BrokenPromise(codec(), single.values, out, settings));
  });
}

TEST_P(CodecTest, FramesSayWhatTheyHold) {
  TensorGenerator generator(7);
  const auto tensor =
      generator.Tensor<double>(TensorGenerator::kNoise, Shape{2, 3, 5});
  const auto frame = Pack(codec(), tensor, {.bound = 0.25});
  const FrameInfo info = Inspect(frame);
  EXPECT_EQ(codec().id(), info.codec);
  EXPECT_EQ(&codec(), &FindCodec(info));
  EXPECT_EQ(DataType::kFloat64, info.type);
  EXPECT_EQ(tensor.shape, info.shape);
  EXPECT_EQ(frame.size(), info.frame_bytes);
  EXPECT_TRUE(info.has_checksum);
  const auto out = Unpack<double>(codec(), frame, 30);
  if (std::isfinite(info.bound)) {
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(tensor.values[i], out[i], info.bound);
    }
  }
}

TEST_P(CodecTest, WrongRequestsAreErrors) {
  TensorGenerator generator(8);
  const auto tensor =
      generator.Tensor<float>(TensorGenerator::kNoise, Shape{4, 100});
  const auto frame = Pack(codec(), tensor, {.bound = 0.25});
  EXPECT_THROW(Unpack<double>(codec(), frame, 400), Error);
  EXPECT_THROW(Unpack<float>(codec(), frame, 399), Error);
  EXPECT_THROW(Unpack<float>(codec(), frame, 200, {3, 2}), Error);
  EXPECT_THROW(Unpack<float>(codec(), frame, 100, {-1, 1}), Error);
  for (const Codec* const other : Codecs()) {
    if (other == &codec()) continue;
    EXPECT_THROW(Unpack<float>(*other, frame, 400), Error);
  }
}

std::string NameOf(const ::testing::TestParamInfo<const Codec*>& info) {
  return std::string(info.param->name());
}

INSTANTIATE_TEST_SUITE_P(All, CodecTest,
                         ::testing::ValuesIn(Codecs().begin(), Codecs().end()),
                         NameOf);

TEST(Shape, RefusesWhatNobodyCanHold) {
  EXPECT_EQ(0, (Shape{0, 1 << 20, 1 << 20}).count());
  EXPECT_THROW((Shape{int64_t{1} << 41}), Error);
  EXPECT_THROW((Shape{1 << 30, 1 << 30, 1 << 30}), Error);
  EXPECT_THROW((Shape{0, int64_t{1} << 40, 2}), Error);
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
}

TEST(Registry, NamesAndNumbersAreUniqueAndForEver) {
  const std::map<std::string, int> numbers = {
      {"raw", 0},     {"sz", 1},  {"fp16", 2},  {"lossless", 3},
      {"bitmask", 4}, {"q8", 5},  {"q4", 6},    {"q2", 7},
      {"zvc", 8},     {"csr", 9}, {"jpeg", 10}, {"shifted", 11}};
  std::set<int> seen;
  for (const Codec* const codec : Codecs()) {
    const std::string name(codec->name());
    ASSERT_TRUE(numbers.contains(name)) << name;
    EXPECT_EQ(numbers.at(name), codec->id()) << name;
    EXPECT_TRUE(seen.insert(codec->id()).second) << name;
    EXPECT_EQ(codec, &FindCodec(name));
    EXPECT_FALSE(codec->guarantee().empty());
  }
  EXPECT_EQ("sz", Codecs()[0]->name());
  EXPECT_THROW(FindCodec("zip"), Error);
}

TEST(Codecs, BoundsThatAreNoneKeepAllValues) {
  const Codec& sz = FindCodec("sz");
  const auto tensor =
      TensorGenerator(5).Tensor<float>(TensorGenerator::kNoise, {100});
  for (const double bound : {-1.0, std::nan("")}) {
    for (const Settings& settings : AllSettings(bound)) {
      const auto frame = Pack(sz, tensor, settings);
      EXPECT_EQ(0, Inspect(frame).bound);
      EXPECT_EQ(tensor.values, Unpack<float>(sz, frame, 100));
    }
  }
}

TEST(Codecs, FramesWithBoundsThatAreNoneAreRefused) {
  const TestTensor<float> tensor{{3}, {1, 2, 3}};
  auto frame = Pack(FindCodec("sz"), tensor, {.bound = 1, .checksum = false});
  EXPECT_EQ(1, Inspect(frame).bound);
  for (const double bound : {-1.0, std::nan("")}) {
    std::memcpy(&frame[8], &bound, sizeof(bound));
    EXPECT_THROW(Inspect(frame), Error);
  }
}

}  // namespace
}  // namespace caffe::codec
