#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "cpu/shared_exponent.hpp"

namespace caffe::cpu {

namespace {

template <typename Dtype>
struct Packed {
  std::vector<int8_t> levels;
  std::vector<uint8_t> exponents;
  std::vector<Dtype> values;
};

template <typename Dtype>
Packed<Dtype> Pack(const std::vector<Dtype>& values, uint32_t seed = 1) {
  const auto n = static_cast<int64_t>(values.size());
  Packed<Dtype> packed;
  packed.levels.resize(n);
  packed.exponents.resize((n + kExponentGroup - 1) / kExponentGroup);
  packed.values.resize(n);
  PackSharedExponent(n, values.data(), seed, 0, packed.levels.data(),
                     packed.exponents.data());
  UnpackSharedExponent(n, packed.levels.data(), packed.exponents.data(),
                       packed.values.data());
  return packed;
}

// Groups of very different sizes, the last one not full.
template <typename Dtype>
std::vector<Dtype> SomeValues(int n) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<Dtype> values(n);
  for (int i = 0; i < n; ++i) {
    const double size = std::pow(10, i / kExponentGroup % 60 - 30);
    values[i] = static_cast<Dtype>(i % 5 == 0 ? 0 : size * normal(random));
  }
  return values;
}

template <typename Dtype>
class SharedExponentTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SharedExponentTest, Dtypes);

TYPED_TEST(SharedExponentTest, ValuesAreWithinAStep) {
  const auto values = SomeValues<TypeParam>(64 * 100 + 7);
  const auto packed = Pack(values);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t group = i / 64 * 64;
    double largest = 0;
    for (size_t k = group; k < std::min(group + 64, values.size()); ++k) {
      largest = std::max(largest, std::abs(double(values[k])));
    }
    // The smallest power of two that 127 of reach the largest value.
    const double step = std::exp2(std::ceil(std::log2(largest / 127)));
    EXPECT_LT(std::abs(double(packed.values[i]) - values[i]), step * 1.0001)
        << i;
    EXPECT_EQ(packed.values[i], packed.levels[i] * TypeParam(step)) << i;
    if (values[i] == 0) {
      EXPECT_EQ(0, packed.values[i]);
    }
  }
}

TYPED_TEST(SharedExponentTest, UnpackedValuesPackToThemselves) {
  const auto once = Pack(SomeValues<TypeParam>(64 * 200 + 63), 3);
  const auto twice = Pack(once.values, 99);
  EXPECT_EQ(once.values, twice.values);
}

TYPED_TEST(SharedExponentTest, ErrorsHaveAMeanOfZero) {
  std::vector<TypeParam> values(64 * 4000);
  for (size_t i = 0; i < values.size(); ++i) {
    // 127 makes a step of one.
    values[i] = i % 64 == 0 ? 127 : TypeParam(i % 64) / 64 - TypeParam(30.3);
  }
  const auto packed = Pack(values);
  double sum[64] = {};
  for (size_t i = 0; i < values.size(); ++i) {
    sum[i % 64] += double(packed.values[i]) - values[i];
  }
  EXPECT_EQ(0, sum[0]);
  for (const double error : sum) {
    // Of 4000 with a deviation of 0.5 at most: 4 of theirs.
    EXPECT_LT(std::abs(error / 4000), 4 * 0.5 / std::sqrt(4000.));
  }
}

TYPED_TEST(SharedExponentTest, SeedsAndPlacesRoundOtherwise) {
  std::vector<TypeParam> values(128, TypeParam(0.3));
  const auto a = Pack(values, 1);
  const auto b = Pack(values, 2);
  EXPECT_NE(a.values, b.values);
  EXPECT_NE(std::vector<TypeParam>(a.values.begin(), a.values.begin() + 64),
            std::vector<TypeParam>(a.values.begin() + 64, a.values.end()));
  // The second group alone.
  std::vector<int8_t> levels(64);
  uint8_t exponent = 0;
  PackSharedExponent<TypeParam>(64, values.data(), 1, 1, levels.data(),
                                &exponent);
  EXPECT_EQ(std::vector<int8_t>(a.levels.begin() + 64, a.levels.end()), levels);
}

TYPED_TEST(SharedExponentTest, ExtremesSurvive) {
  const float most = std::numeric_limits<float>::max() / 2;
  const float least = std::numeric_limits<float>::denorm_min();
  std::vector<TypeParam> values(64 * 4);
  values[3] = most;
  values[64] = least;
  values[130] = std::numeric_limits<TypeParam>::quiet_NaN();
  values[192] = -std::numeric_limits<TypeParam>::infinity();
  // Could be rounded to what is no number.
  values.resize(64 * 5);
  values[300] = std::numeric_limits<float>::max();
  const auto packed = Pack(values);
  EXPECT_NEAR(1, packed.values[3] / most, 0.01);
  EXPECT_GE(packed.values[64], 0);
  EXPECT_LT(packed.values[64], 1e-37);
  for (int i = 128; i < 320; ++i) EXPECT_TRUE(std::isnan(packed.values[i]));
}

TEST(SharedExponent, DoublesRoundAsFloatsDo) {
  std::vector<float> values = SomeValues<float>(64 * 50);
  const auto floats = Pack(values);
  const auto doubles = Pack(std::vector<double>(values.begin(), values.end()));
  EXPECT_EQ(floats.exponents, doubles.exponents);
  int different = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    different += floats.levels[i] != doubles.levels[i];
  }
  // Where the last digit of a float decides.
  EXPECT_LE(different, 2);
}

TEST(SharedExponent, DoublesBeyondFloatsAreNoNumbers) {
  const auto packed = Pack(std::vector<double>{1e300, 1});
  EXPECT_TRUE(std::isnan(packed.values[1]));
}

TEST(SharedExponent, TellsTheSumOfAbsoluteValues) {
  const auto packed = Pack(SomeValues<float>(64 * 30 + 5));
  double sum = 0;
  for (const float value : packed.values) sum += std::abs(double(value));
  EXPECT_NEAR(sum,
              AbsoluteSumOfPacked(64 * 30 + 5, packed.levels.data(),
                                  packed.exponents.data()),
              1e-9 * sum);
}

}  // namespace

}  // namespace caffe::cpu
