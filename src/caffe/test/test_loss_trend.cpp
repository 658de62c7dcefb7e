#include <cmath>
#include <random>

#include "caffe/test/test_caffe_main.hpp"
#include "compress/loss_trend.hpp"

namespace caffe {

namespace {

TEST(LossTrendTest, KnowsNoLimitUntilTheWindowIsFull) {
  LossTrend trend(3, 10);
  for (const double loss : {2.0, 4.0}) {
    trend.Add(loss);
    EXPECT_TRUE(std::isinf(trend.limit()));
  }
  trend.Add(3);
  // Off the mean by 0, 2 and 0; half of the mean is less than ten times that.
  EXPECT_DOUBLE_EQ(3, trend.mean());
  EXPECT_NEAR(3 + 10 * 2.0 / 3, trend.limit(), 1e-12);
}

TEST(LossTrendTest, NoiseIsNoAlarm) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.2);
  LossTrend trend(100, 10);
  for (int i = 0; i < 100000; ++i) {
    // A loss that falls, with a step down where a rate might drop.
    const double loss = 0.1 + 2 * std::exp(-i / 2000.0) +
                        (i < 50000 ? 0.3 : 0) + std::fabs(noise(random));
    ASSERT_LE(loss, trend.limit()) << i;
    trend.Add(loss);
  }
}

TEST(LossTrendTest, StepsOfASteadyLossMustBeLarge) {
  LossTrend trend(10, 10);
  for (int i = 0; i < 50; ++i) trend.Add(2);
  EXPECT_DOUBLE_EQ(3, trend.limit());
}

TEST(LossTrendTest, OneOddLossHardlyMovesItButALevelDoes) {
  LossTrend trend(100, 10);
  for (int i = 0; i < 500; ++i) trend.Add(i % 2 == 0 ? 0.9 : 1.1);
  const double limit = trend.limit();
  EXPECT_NEAR(2, limit, 0.02);
  trend.Add(1e30);
  EXPECT_LT(trend.limit(), 1.2 * limit);
  EXPECT_GT(50, trend.limit());
  for (int i = 0; i < 300; ++i) trend.Add(50);
  EXPECT_LT(50, trend.limit());
}

}  // namespace

}  // namespace caffe
