#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "caffe/compress/codec.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"

namespace caffe::codec {
namespace {

template <typename T>
std::vector<uint8_t> Pack(const TestTensor<T>& tensor,
                          const Settings& settings) {
  return Pack(FindCodec("sz"), tensor, settings);
}

template <typename T>
std::vector<T> Unpack(const std::vector<uint8_t>& frame, size_t values,
                      ImageRange range = {}) {
  return Unpack<T>(FindCodec("sz"), frame, values, range);
}

template <typename T>
void ExpectKept(const std::vector<T>& in, const std::vector<T>& out,
                const Settings& settings) {
  ASSERT_EQ("", BrokenPromise(FindCodec("sz"), in, out, settings));
}

template <typename T>
class SzCodecTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SzCodecTest, Types);

TYPED_TEST(SzCodecTest, KeepsItsPromisesForAllKindsOfValues) {
  TensorGenerator generator(1);
  for (int i = 0; i < 300; ++i) {
    const auto tensor = generator.RandomTensor<TypeParam>(3000);
    const double bound = generator.RandomBound(tensor.values);
    for (const Settings& settings : AllSettings(bound)) {
      const auto frame = Pack(tensor, settings);
      ExpectKept(tensor.values, Unpack<TypeParam>(frame, tensor.values.size()),
                 settings);
      if (this->HasFatalFailure()) {
        FAIL() << "case " << i << ", bound " << bound;
      }
    }
  }
}

TYPED_TEST(SzCodecTest, KeepsItsPromisesForManyBlocks) {
  TensorGenerator generator(2);
  for (const auto kind : {TensorGenerator::kRelu, TensorGenerator::kSmooth,
                          TensorGenerator::kWild}) {
    const auto tensor = generator.Tensor<TypeParam>(kind, Shape{5, 13, 41, 57});
    for (const Settings& settings : AllSettings(0.01)) {
      ExpectKept(
          tensor.values,
          Unpack<TypeParam>(Pack(tensor, settings), tensor.values.size()),
          settings);
    }
  }
}

TYPED_TEST(SzCodecTest, RestoresSomeImagesOfABatch) {
  TensorGenerator generator(3);
  const auto tensor = generator.Tensor<TypeParam>(TensorGenerator::kSmoothRelu,
                                                  Shape{23, 5, 19, 31});
  const size_t image = tensor.shape.image_values();
  for (const Settings& settings : AllSettings(0.02)) {
    const auto frame = Pack(tensor, settings);
    const auto all = Unpack<TypeParam>(frame, tensor.values.size());
    for (const ImageRange range :
         {ImageRange{0, 1}, ImageRange{7, 3}, ImageRange{22, 1},
          ImageRange{4, 0}, ImageRange{20, -1}}) {
      const size_t count = range.count < 0 ? 23 - range.first : range.count;
      const auto some = Unpack<TypeParam>(frame, count * image, range);
      EXPECT_TRUE(std::equal(some.begin(), some.end(),
                             all.begin() + range.first * image));
    }
  }
}

TYPED_TEST(SzCodecTest, BytesDependOnNeitherTargetNorThreads) {
  TensorGenerator generator(4);
  for (int i = 0; i < 20; ++i) {
    const auto tensor =
        i < 4 ? generator.Tensor<TypeParam>(TensorGenerator::kSmoothRelu,
                                            Shape{4, 16, 32, 40 + i})
              : generator.RandomTensor<TypeParam>(3000);
    const double bound = generator.RandomBound(tensor.values);
    for (const Settings& settings : AllSettings(bound)) {
      const auto frame = Pack(tensor, settings);
      const auto values = Unpack<TypeParam>(frame, tensor.values.size());
      const auto expect_same = [&](const std::string& with) {
        EXPECT_EQ(frame, Pack(tensor, settings)) << with;
        EXPECT_TRUE(SameBits(values, Unpack<TypeParam>(frame, values.size())))
            << with;
      };
      ForEachTarget(expect_same);
      for (const int n : {1, 3}) {
        WithThreads(n, [&] { expect_same(std::to_string(n) + " threads"); });
      }
    }
  }
}

TYPED_TEST(SzCodecTest, CompressingAgainChangesNothingWithNearest) {
  TensorGenerator generator(5);
  for (int i = 0; i < 100; ++i) {
    auto tensor = generator.RandomTensor<TypeParam>(2000);
    const double bound = generator.RandomBound(tensor.values);
    for (const Settings& settings : AllSettings(bound)) {
      if (settings.rounding != Rounding::kNearest) continue;
      auto once = tensor;
      once.values =
          Unpack<TypeParam>(Pack(tensor, settings), tensor.values.size());
      const auto twice =
          Unpack<TypeParam>(Pack(once, settings), once.values.size());
      ASSERT_TRUE(SameBits(once.values, twice)) << i;
    }
  }
}

TEST(SzCodec, EmptyAndSingleValues) {
  for (const Settings& settings : AllSettings(0.5)) {
    EXPECT_TRUE(Unpack<float>(Pack(TestTensor<float>{{0, 3}, {}}, settings), 0)
                    .empty());
    EXPECT_NEAR(
        5.2f,
        Unpack<float>(Pack(TestTensor<float>{{}, {5.2f}}, settings), 1)[0],
        0.5);
  }
}

TEST(SzCodec, BlocksOfZerosTakeNoBytes) {
  for (const Settings& settings : AllSettings(0.5)) {
    const auto bytes = [&](int blocks) {
      const int64_t n = int64_t{blocks} * 32768;
      TestTensor<float> tensor{{n}, std::vector<float>(n)};
      const auto frame = Pack(tensor, settings);
      EXPECT_EQ(tensor.values, Unpack<float>(frame, n));
      return frame.size();
    };
    // But for what the directory has of them.
    EXPECT_EQ(8 * 10, bytes(20) - bytes(10));
  }
}

TEST(SzCodec, FastGroupsAreAsDocumented) {
  TestTensor<float> tensor{Shape{32}, std::vector<float>(32)};
  tensor.values[0] = 5;
  tensor.values[15] = 7;
  tensor.values[16] = -20;
  tensor.values[25] = 3;
  Settings settings;
  settings.bound = 0.5;
  settings.level = Level::kFast;
  const std::vector<uint8_t> frame = Pack(tensor, settings);
  const std::vector<uint8_t> block = {
      26,   0,    0, 0,    0, 0, 0, 0,
      0,    0,    0, 0,                 // bytes of bits, 0, raw values
      0xD3,                             // 3 bits unsigned, 6 bits signed
      0x01, 0,    0, 0xC0,              // 5 and 7: the lower 2 bits
      0x01, 0x80,                       // and the one above
      0x0C, 0x30, 0, 0,    0, 0, 0, 0,  // -20 and 3: the lower 4 bits
      0x02, 0,    0, 0,                 // and 2 above
      0,    0,    0, 0,    0, 0, 0, 0};
  ASSERT_GE(frame.size(), block.size());
  EXPECT_EQ(block,
            std::vector<uint8_t>(frame.end() - block.size(), frame.end()));
  EXPECT_EQ(tensor.values, Unpack<float>(frame, 32));
}

TEST(SzCodec, KeepsRareLargeSteps) {
  // The differences are 0 but for one in 200, which is as large as can be.
  TestTensor<float> tensor{{1, 20000}, {}};
  for (int i = 0; i < 20000; ++i) {
    tensor.values.push_back(i / 200 % 2 == 0 ? 63.0f : -63.0f);
  }
  for (const Settings& settings : AllSettings(0.5)) {
    ExpectKept(tensor.values,
               Unpack<float>(Pack(tensor, settings), tensor.values.size()),
               settings);
  }
}

TEST(SzCodec, TheExactSizeIsNearTheEstimateAndWithinTheBound) {
  TensorGenerator generator(6);
  const Codec& sz = FindCodec("sz");
  Context context;
  for (const auto kind :
       {TensorGenerator::kRelu, TensorGenerator::kSmooth,
        TensorGenerator::kSmoothRelu, TensorGenerator::kNoise}) {
    const auto tensor = generator.Tensor<float>(kind, Shape{8, 32, 28, 28});
    double sum = 0;
    for (const float v : tensor.values) sum += std::abs(v);
    for (const double relative : {0.3, 0.03, 0.003}) {
      for (const Settings& settings :
           AllSettings(relative * sum / tensor.values.size())) {
        const double size = Pack(tensor, settings).size();
        EXPECT_LE(size, sz.MaxBytes(tensor.shape, DataType::kFloat32));
        const double estimate =
            sz.EstimateBytes(tensor.view(), settings, context);
        EXPECT_NEAR(1, estimate / size, 0.15)
            << kind << " " << relative << " level "
            << static_cast<int>(settings.level);
      }
    }
  }
}

TEST(SzCodec, DitheredErrorsAreUniformAndIndependentOfTheValues) {
  // 2^17 values; a mean or correlation beyond 5 standard errors, or a cell of
  // 16 beyond 5, is a false alarm in fewer than one of 10^5 runs. The seed is
  // fixed, so that the test either fails always or never.
  TensorGenerator generator(7);
  const auto tensor =
      generator.Tensor<float>(TensorGenerator::kNoise, Shape{32, 64, 64});
  for (Settings settings : AllSettings(0.1)) {
    if (settings.rounding != Rounding::kDither) continue;
    double spread = 0;
    for (const float v : tensor.values) spread += v * v;
    spread = std::sqrt(spread / tensor.values.size());
    settings.bound = spread;
    const auto out =
        Unpack<float>(Pack(tensor, settings), tensor.values.size());
    const double n = static_cast<double>(out.size());
    double mean = 0, square = 0, product = 0;
    std::vector<int> cells(16);
    for (size_t i = 0; i < out.size(); ++i) {
      const double error =
          (double(out[i]) - double(tensor.values[i])) / settings.bound;
      mean += error;
      square += error * error;
      product += error * tensor.values[i] / spread;
      ++cells[std::clamp(static_cast<int>((error + 1) * 8), 0, 15)];
    }
    const double limit = 5 / std::sqrt(3 * n);  // the errors' variance is 1/3
    EXPECT_LT(std::abs(mean / n), limit);
    EXPECT_LT(std::abs(product / n), limit);
    EXPECT_NEAR(1.0 / 3, square / n, 5 * std::sqrt(4.0 / 45 / n));
    for (const int cell : cells) {
      EXPECT_NEAR(n / 16, cell, 5 * std::sqrt(n / 16));
    }
  }
}

TEST(SzCodec, DenseIsDenserThanTheEntropyOfItsCodes) {
  TensorGenerator generator(8);
  const auto tensor = generator.Tensor<float>(TensorGenerator::kSmoothRelu,
                                              Shape{16, 32, 32, 32});
  double sum = 0;
  for (const float v : tensor.values) sum += v;
  Settings settings;
  settings.bound = 0.1 * sum / tensor.values.size();
  std::map<int, int> counts;
  for (const float v : tensor.values) {
    ++counts[static_cast<int>(std::lrint(v / (2 * settings.bound)))];
  }
  double bits = 0;
  for (const auto& [code, count] : counts) {
    bits -= count * std::log2(count / double(tensor.values.size()));
  }
  EXPECT_LT(Pack(tensor, settings).size(), bits / 8 / 1.2);
}

}  // namespace
}  // namespace caffe::codec
