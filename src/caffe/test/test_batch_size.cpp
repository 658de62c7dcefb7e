#include "caffe/compress/batch_size.hpp"

#include <gmock/gmock.h>

#include <string>

#include "caffe/error.hpp"
#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

namespace {

constexpr double kMegabyte = 1e6;

BatchSizeParameter Param(int max, bool any, float reserve) {
  BatchSizeParameter param;
  param.set_adapt(true);
  param.set_max(max);
  param.set_any(any);
  param.set_reserve(reserve);
  return param;
}

// 100 MB, and so many for each image.
BatchForecast Forecast(double megabytes_an_image) {
  return [=](int batch_size) {
    return (100 + megabytes_an_image * batch_size) * kMegabyte;
  };
}

string ErrorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(BatchSizeRule, StartsWithTheConfiguredBatch) {
  const BatchSizeRule rule(Param(1024, false, 0), 500e6, 64);
  const auto first = rule.First(Forecast(1));
  EXPECT_EQ(64, first.batch_size);
  EXPECT_EQ("", first.reason);
}

TEST(BatchSizeRule, StartsWithLessWhenThatDoesNotFit) {
  // Up to 400 images fit.
  EXPECT_EQ(256, BatchSizeRule(Param(1024, false, 0), 500e6, 500)
                     .First(Forecast(1))
                     .batch_size);
  const auto any =
      BatchSizeRule(Param(1024, true, 0), 500e6, 500).First(Forecast(1));
  EXPECT_EQ(400, any.batch_size);
  EXPECT_EQ("the forecast for 500 is 600 MB", any.reason);
}

TEST(BatchSizeRule, RefusesABudgetThatHoldsNothing) {
  const BatchSizeRule rule(Param(1024, false, 0.05F), 101e6, 64);
  EXPECT_EQ(
      "a memory_budget of 101 MB cannot hold a batch of 1: the process would "
      "take about 120 MB, and 5 % are kept in reserve",
      ErrorOf([&] { rule.First(Forecast(20)); }));
}

TEST(BatchSizeRule, GrowsUpToTwiceAtATimeWhileItFits) {
  const BatchSizeRule rule(Param(1024, false, 0), 500e6, 50);
  // Up to 400 images fit; all but the first are powers of two.
  EXPECT_EQ(64, rule.Next(50, Forecast(1)).batch_size);
  EXPECT_EQ(128, rule.Next(64, Forecast(1)).batch_size);
  EXPECT_EQ(256, rule.Next(128, Forecast(1)).batch_size);
  EXPECT_EQ("the forecast is 356 MB", rule.Next(128, Forecast(1)).reason);
  EXPECT_EQ(256, rule.Next(256, Forecast(1)).batch_size);
  EXPECT_EQ("", rule.Next(256, Forecast(1)).reason);
}

TEST(BatchSizeRule, AnySizeUsesTheBudgetUp) {
  const BatchSizeRule rule(Param(1024, true, 0), 500e6, 50);
  EXPECT_EQ(100, rule.Next(50, Forecast(1)).batch_size);
  EXPECT_EQ(400, rule.Next(250, Forecast(1)).batch_size);
  // Not worth it.
  EXPECT_EQ(390, rule.Next(390, Forecast(1)).batch_size);
}

TEST(BatchSizeRule, KeepsTheReserve) {
  // 400 fit without it, 275 with it.
  EXPECT_EQ(275, BatchSizeRule(Param(1024, true, 0.25F), 500e6, 50)
                     .Next(200, Forecast(1))
                     .batch_size);
}

TEST(BatchSizeRule, StaysBelowTheLargestAllowed) {
  const BatchSizeRule rule(Param(200, false, 0), 5000e6, 50);
  EXPECT_EQ(128, rule.Next(64, Forecast(1)).batch_size);
  EXPECT_EQ(128, rule.Next(128, Forecast(1)).batch_size);
  // A net that is configured with more stays as it is.
  EXPECT_EQ(300, BatchSizeRule(Param(200, false, 0), 5000e6, 300)
                     .Next(300, Forecast(1))
                     .batch_size);
}

TEST(BatchSizeRule, ShrinksWhenItDoesNotFitAnyMore) {
  const BatchSizeRule rule(Param(1024, false, 0.1F), 500e6, 50);
  // The limits are 450 and 475 MB.
  EXPECT_EQ(256, rule.Next(256, Forecast(1.4)).batch_size);
  const auto less = rule.Next(256, Forecast(1.6));
  EXPECT_EQ(128, less.batch_size);
  EXPECT_EQ("tensors pack less well than before: 510 MB for 256", less.reason);
  // Below the configured size only when that does not fit, either.
  EXPECT_EQ(50, rule.Next(256, Forecast(6)).batch_size);
  EXPECT_EQ(32, rule.Next(256, Forecast(10)).batch_size);
  EXPECT_EQ(1, rule.Next(256, Forecast(1000)).batch_size);
  EXPECT_EQ(1, rule.Next(1, Forecast(1000)).batch_size);
}

TEST(BatchSizeRule, ScalesTheLearningRate) {
  BatchSizeParameter param = Param(1024, false, 0);
  EXPECT_EQ(1, BatchSizeRule(param, 1, 50).RateScale(200));
  param.set_lr_scaling(BatchSizeParameter::LINEAR);
  EXPECT_EQ(4, BatchSizeRule(param, 1, 50).RateScale(200));
  EXPECT_EQ(0.5, BatchSizeRule(param, 1, 50).RateScale(25));
  param.set_lr_scaling(BatchSizeParameter::SQRT);
  EXPECT_EQ(2, BatchSizeRule(param, 1, 50).RateScale(200));
}

TEST(BatchSizeRule, ExplainsBadSettings) {
  EXPECT_EQ("compression.batch_size.max must be above 0, not 0",
            ErrorOf([] { BatchSizeRule(Param(0, false, 0), 1, 1); }));
  EXPECT_EQ(
      "compression.batch_size.reserve must be 0 or more and below 1, not 1",
      ErrorOf([] { BatchSizeRule(Param(1, false, 1), 1, 1); }));
  EXPECT_EQ("the net has no batch size that could be adapted",
            ErrorOf([] { BatchSizeRule(Param(1, false, 0), 1, 0); }));
}

}  // namespace caffe
