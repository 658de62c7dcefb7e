#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "caffe/compress/codec.hpp"
#include "codec_test_util.hpp"

// What the codecs beside sz do with particular values.
namespace caffe::codec {
namespace {

template <typename T>
std::vector<T> Restored(const std::string& name, const std::vector<T>& values,
                        const Settings& settings = {}) {
  const Codec& codec = FindCodec(name);
  const TestTensor<T> tensor{{static_cast<int64_t>(values.size())}, values};
  return Unpack<T>(codec, Pack(codec, tensor, settings), values.size());
}

// The size of the values' own bytes: without header, number of values in a
// block and directory of one block.
size_t DataBytes(const std::string& name, const std::vector<float>& values) {
  const TestTensor<float> tensor{{static_cast<int64_t>(values.size())}, values};
  return Pack(FindCodec(name), tensor, {}).size() - 40 - 4 - 8;
}

// The value of a half that is finite.
double HalfValue(int bits) {
  const int exponent = bits >> 10;
  const int digits = bits & 1023;
  return exponent == 0 ? std::ldexp(digits, -24)
                       : std::ldexp(1024 + digits, exponent - 25);
}

template <typename T>
void ExpectNearestHalves() {
  // Every half, and around the middle between it and the next one.
  std::vector<T> values, expected;
  const auto add = [&](double value, double half) {
    for (const double sign : {1, -1}) {
      values.push_back(static_cast<T>(sign * value));
      expected.push_back(static_cast<T>(sign * half));
    }
  };
  for (int bits = 0; bits + 1 < 0x7C00; ++bits) {
    const double half = HalfValue(bits);
    const double next = HalfValue(bits + 1);
    const T middle = static_cast<T>((half + next) / 2);
    add(half, half);
    add(middle, bits % 2 == 0 ? half : next);
    add(std::nextafter(middle, T(0)), half);
    add(std::nextafter(middle, T(1e9)), next);
  }
  add(65519.996, 65504);
  const auto out = Restored<T>("fp16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(expected[i], out[i]) << values[i];
  }
}

TEST(Fp16Codec, RoundsToTheNearestHalf) {
  ExpectNearestHalves<float>();
  ExpectNearestHalves<double>();
}

TEST(Fp16Codec, KeepsBlocksWithLargeValuesAsTheyAre) {
  std::vector<float> values(40000, 1.0f / 3);
  values[20000] = 65520;
  const auto out = Restored("fp16", values);
  EXPECT_EQ(65520, out[20000]);
  EXPECT_EQ(1.0f / 3, out[16384]);
  EXPECT_NE(1.0f / 3, out[16383]);
  EXPECT_NE(1.0f / 3, out[32768]);
}

TEST(SparseCodecs, TakeTheBytesTheyShould) {
  std::vector<float> values(1000);
  for (int i = 0; i < 1000; i += 10) values[i] = static_cast<float>(i + 1);
  EXPECT_EQ(125 + 100 * 4, DataBytes("zvc", values));
  EXPECT_EQ(4 * 2 + 100 * 5, DataBytes("csr", values));
  EXPECT_EQ(125, DataBytes("bitmask", values));
  EXPECT_EQ(2000, DataBytes("fp16", values));
  EXPECT_EQ(4000, DataBytes("raw", values));
}

TEST(SparseCodecs, DenseBlocksAreKeptRaw) {
  const std::vector<float> values(1000, 2.5f);
  for (const std::string name : {"zvc", "csr"}) {
    EXPECT_EQ(4000, DataBytes(name, values));
    EXPECT_EQ(values, Restored(name, values));
  }
}

TEST(LosslessCodec, PacksConstantsAndKeepsNoise) {
  EXPECT_LT(DataBytes("lossless", std::vector<float>(60000, 2.5f)), 200);
  TensorGenerator generator(1);
  const auto noise =
      generator.Tensor<float>(TensorGenerator::kNoise, {60000}).values;
  EXPECT_LT(DataBytes("lossless", noise), 0.9 * 4 * noise.size());
}

TEST(GroupedCodecs, TakeTheBytesTheyShould) {
  TensorGenerator generator(2);
  const auto values =
      generator.Tensor<float>(TensorGenerator::kNoise, {2560}).values;
  EXPECT_EQ(10 * (256 + 8), DataBytes("q8", values) - 4);
  EXPECT_EQ(10 * (128 + 8), DataBytes("q4", values) - 4);
  EXPECT_EQ(10 * (64 + 8), DataBytes("q2", values) - 4);
}

TEST(GroupedCodecs, EndsOfTheRangeAndConstantsAreExact) {
  std::vector<float> values(256, 3.25f);
  for (const std::string name : {"q8", "q4", "q2"}) {
    EXPECT_EQ(values, Restored(name, values));
    auto others = values;
    others[17] = -1;
    others[200] = 7;
    const auto out = Restored(name, others);
    EXPECT_EQ(-1, out[17]);
    EXPECT_NEAR(7, out[200], 1e-6);
  }
}

template <typename T>
void ExpectFiniteOverTheLargestRange() {
  const T most = std::numeric_limits<T>::max();
  // Some way or other, 3, 15 or 255 steps of it are more than there is.
  for (const T end : {most, std::nextafter(most, T(0)), most / 3, most / 5}) {
    for (const T other : {T(0), end / 7, -end / 9}) {
      for (const std::string name : {"q8", "q4", "q2"}) {
        for (const T value : Restored<T>(name, {end, other, other})) {
          EXPECT_TRUE(std::isfinite(value)) << name << " " << end;
        }
        for (const T value : Restored<T>(name, {-end, -other, -other})) {
          EXPECT_TRUE(std::isfinite(value)) << name << " " << -end;
        }
      }
    }
  }
}

TEST(GroupedCodecs, StayFiniteOverTheLargestRange) {
  ExpectFiniteOverTheLargestRange<float>();
  ExpectFiniteOverTheLargestRange<double>();
}

TEST(GroupedCodecs, RoundingIsUnbiased) {
  // 256 values between 0 and 1, each rounded with 4000 seeds. A value is off by
  // its mean error; its standard error is at most half a step over the root
  // of 4000. Beyond five of them is a false alarm once in 7000 runs of 256
  // values; the seeds are fixed, so that the test fails always or never.
  constexpr int kSeeds = 4000;
  std::vector<float> values(256);
  for (int i = 0; i < 256; ++i) values[i] = static_cast<float>(i) / 255;
  values[1] = 0.9f;
  for (const auto& [name, levels] :
       {std::pair{"q8", 255}, std::pair{"q4", 15}, std::pair{"q2", 3}}) {
    std::vector<double> sums(256);
    for (int seed = 0; seed < kSeeds; ++seed) {
      const auto out =
          Restored(name, values, {.seed = static_cast<uint32_t>(seed * 7919)});
      for (int i = 0; i < 256; ++i) sums[i] += out[i] - values[i];
    }
    for (int i = 0; i < 256; ++i) {
      EXPECT_NEAR(0, sums[i] / kSeeds,
                  1e-7 + 5 * 0.5 / levels / std::sqrt(kSeeds))
          << name << " " << i;
    }
  }
}

TEST(GroupedCodecs, SeedsAndPositionsChooseTheRounding) {
  const std::vector<float> half = [] {
    std::vector<float> values(1024, 0.5f);
    for (size_t i = 0; i < 1024; i += 256) {
      values[i] = 0;
      values[i + 1] = 1;
    }
    return values;
  }();
  const auto one = Restored("q2", half, {.seed = 1});
  EXPECT_EQ(one, Restored("q2", half, {.seed = 1}));
  EXPECT_NE(one, Restored("q2", half, {.seed = 2}));
  EXPECT_FALSE(std::equal(one.begin(), one.begin() + 256, one.begin() + 256));
}

// Mean square errors over that of the values, of smooth and of rough pictures.
double JpegError(TensorGenerator::Kind kind, Level level, double* ratio) {
  TensorGenerator generator(3);
  const auto tensor = generator.Tensor<float>(kind, {4, 8, 56, 56});
  const Codec& codec = FindCodec("jpeg");
  const auto frame = Pack(codec, tensor, {.level = level});
  *ratio = 4.0 * tensor.values.size() / frame.size();
  const auto out = Unpack<float>(codec, frame, tensor.values.size());
  double error = 0, square = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    error += std::pow(out[i] - tensor.values[i], 2.0);
    square += std::pow(tensor.values[i], 2.0);
  }
  return error / square;
}

TEST(JpegCodec, PacksPicturesWithSmallErrors) {
  double ratio;
  EXPECT_LT(JpegError(TensorGenerator::kSmooth, Level::kFast, &ratio), 0.05);
  EXPECT_GT(ratio, 10);
  EXPECT_LT(JpegError(TensorGenerator::kRelu, Level::kFast, &ratio), 0.1);
  EXPECT_GT(ratio, 4);
  // The flat table spends as many bits better.
  EXPECT_LT(JpegError(TensorGenerator::kSmooth, Level::kDense, &ratio), 0.02);
  EXPECT_GT(ratio, 10);
  EXPECT_LT(JpegError(TensorGenerator::kRelu, Level::kDense, &ratio), 0.04);
  EXPECT_GT(ratio, 3.5);
}

TEST(JpegCodec, ConstantPlanesAreNearlyExactAndTiny) {
  const TestTensor<float> tensor{{2, 3, 64, 64},
                                 std::vector<float>(2 * 3 * 64 * 64, 2.54f)};
  const Codec& codec = FindCodec("jpeg");
  const auto frame = Pack(codec, tensor, {});
  EXPECT_LT(frame.size(), 700);
  for (const float v : Unpack<float>(codec, frame, tensor.values.size())) {
    ASSERT_NEAR(2.54, v, 2.54 * 4.1 / 1016);  // half a step of 8 in 127 * 8
  }
}

TEST(ShiftedCodec, MakesOneSmallValueOfAllZerosOfABlock) {
  // From 1, in steps of 0.75: 0 becomes 0.25.
  const std::vector<float> some = {0, 0, 1, 0, 0, 2.5f, -1, 0};
  const std::vector<float> expected = {0.25f, 0.25f, 1,      0.25f,
                                       0.25f, 2.5f,  -1.25f, 0.25f};
  std::vector<float> values, all_expected;
  for (int i = 0; i < 100; ++i) {
    values.insert(values.end(), some.begin(), some.end());
    all_expected.insert(all_expected.end(), expected.begin(), expected.end());
  }
  EXPECT_EQ(all_expected, Restored("shifted", values, {.bound = 0.375}));
  EXPECT_EQ(values, Restored("shifted", values, {.bound = 0}));
}

}  // namespace
}  // namespace caffe::codec
