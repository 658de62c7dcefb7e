#include <cmath>
#include <limits>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "cpu/moments.hpp"

namespace caffe {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Dtype>
class MomentsTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MomentsTest, Dtypes);

TYPED_TEST(MomentsTest, AreThoseOfAFewValues) {
  const std::vector<TypeParam> values = {-1, 0, 0, 5};
  const cpu::Moments moments = cpu::MomentsOf<TypeParam>(4, values.data());
  EXPECT_EQ(1, moments.mean);
  EXPECT_DOUBLE_EQ(std::sqrt(5.5), moments.deviation);
  EXPECT_EQ(-1, moments.smallest);
  EXPECT_EQ(5, moments.largest);
  EXPECT_EQ(0.5, moments.nonzero_fraction);
  const cpu::Norms norms = cpu::NormsOf<TypeParam>(4, values.data());
  EXPECT_DOUBLE_EQ(std::sqrt(26), norms.l2);
  EXPECT_EQ(1.5, norms.mean_absolute);
}

TYPED_TEST(MomentsTest, LargestDifferenceIsFoundWhereverItIs) {
  constexpr int kCount = 21;
  const std::vector<TypeParam> zeros(kCount);
  EXPECT_EQ(0, cpu::LargestDifference(kCount, zeros.data(), zeros.data()));
  for (int i = 0; i < kCount; ++i) {
    std::vector<TypeParam> values(kCount, 1);
    values[i] = -2;
    EXPECT_EQ(2, cpu::LargestDifference(kCount, zeros.data(), values.data()));
  }
}

TYPED_TEST(MomentsTest, LargestDifferenceOfWhatIsNoNumber) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam inf = std::numeric_limits<TypeParam>::infinity();
  const auto difference = [](const std::vector<TypeParam>& a,
                             const std::vector<TypeParam>& b) {
    return cpu::LargestDifference(static_cast<int64_t>(a.size()), a.data(),
                                  b.data());
  };
  EXPECT_EQ(0.5, difference({nan, inf, -inf, 1}, {nan, inf, -inf, 0.5}));
  EXPECT_EQ(kInfinity, difference({nan, 1}, {0, 1}));
  EXPECT_EQ(kInfinity, difference({0, 1}, {0, nan}));
  EXPECT_EQ(kInfinity, difference({inf, 1}, {-inf, 1}));
  EXPECT_EQ(kInfinity, difference({inf, 1}, {3, 1}));
}

TYPED_TEST(MomentsTest, AllFiniteSeesEveryValue) {
  constexpr int kCount = 19;
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> finite(kCount, -Limits::max());
  EXPECT_TRUE(cpu::AllFinite(kCount, finite.data()));
  for (int i = 0; i < kCount; ++i) {
    for (const TypeParam other :
         {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
      std::vector<TypeParam> values = finite;
      values[i] = other;
      EXPECT_FALSE(cpu::AllFinite(kCount, values.data()));
    }
  }
}

}  // namespace

}  // namespace caffe
