#include <cmath>
#include <random>
#include <vector>

#include "caffe/compress/error_bound.hpp"
#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

namespace {

TEST(ErrorBoundTest, GradientErrorIsThatOfASimulation) {
  // One weight a channel: its gradient is the sum of activations times
  // gradients. Two channels whose gradients differ in size.
  constexpr int kValues = 400;
  constexpr double kBound = 0.3;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> error(-kBound, kBound);
  std::vector<bool> is_zero(kValues);
  std::vector<double> gradient[2];
  LayerStatistics statistics;
  statistics.channels = 2;
  double squares = 0;
  int nonzeros = 0;
  for (int i = 0; i < kValues; ++i) {
    is_zero[i] = i % 4 == 0;
    nonzeros += !is_zero[i];
    for (int k = 0; k < 2; ++k) {
      gradient[k].push_back(normal(random) * (1 + 2 * k));
      squares += gradient[k][i] * gradient[k][i];
    }
  }
  statistics.gradient_norm = std::sqrt(squares);
  statistics.nonzero_fraction = static_cast<double>(nonzeros) / kValues;

  constexpr int kTrials = 4000;
  double sum = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double off[2] = {};
    for (int i = 0; i < kValues; ++i) {
      const double e = is_zero[i] ? 0 : error(random);
      for (int k = 0; k < 2; ++k) off[k] += e * gradient[k][i];
    }
    sum += (off[0] * off[0] + off[1] * off[1]) / 2;
  }
  const double simulated = std::sqrt(sum / kTrials);
  // The estimate of a standard deviation from so many trials is within 4 % in
  // all but one of a thousand cases, and which values are zero is not quite
  // independent of the gradients here.
  EXPECT_NEAR(1, GradientError(statistics, kBound) / simulated, 0.06);
}

TEST(ErrorBoundTest, MeasuredBoundGivesTheToleratedError) {
  LayerStatistics statistics;
  statistics.nonzero_fraction = 0.4;
  statistics.deviation = 100;
  statistics.gradient_norm = 3;
  statistics.channels = 16;
  statistics.momentum = 0.5;
  statistics.passes = 4;
  statistics.sharers = 2;
  ErrorBoundParameter param;
  param.set_tolerance(0.02F);
  const double bound = AssessBound(param, statistics);
  EXPECT_NEAR(0.01, GradientError(statistics, bound), 1e-8);
}

TEST(ErrorBoundTest, PaperFormulaIsThePublishedOne) {
  LayerStatistics statistics;
  statistics.nonzero_fraction = 0.25;
  statistics.deviation = 1e6;
  statistics.mean_gradient = 0.001;
  statistics.images = 256;
  statistics.momentum = 0.02;
  ErrorBoundParameter param;
  param.set_estimator(ErrorBoundParameter::PAPER);
  // 0.01 * 0.02 / (0.32 * 0.001 * sqrt(256 * 0.25)).
  EXPECT_NEAR(0.078125, AssessBound(param, statistics), 1e-6);
}

TEST(ErrorBoundTest, FixedAndRelativeBoundsAndTheLargest) {
  LayerStatistics statistics;
  statistics.deviation = 4;
  statistics.momentum = 1;
  ErrorBoundParameter param;
  param.set_value(0.25F);
  param.set_estimator(ErrorBoundParameter::FIXED);
  EXPECT_EQ(0.25, AssessBound(param, statistics));
  param.set_estimator(ErrorBoundParameter::RELATIVE);
  EXPECT_EQ(1, AssessBound(param, statistics));
  // No gradient: any error is tolerated, but not an infinite one.
  param.set_estimator(ErrorBoundParameter::MEASURED);
  param.set_max_relative(0.5F);
  EXPECT_EQ(2, AssessBound(param, statistics));
}

TEST(AssessmentScheduleTest, EarlyAndOftenAtFirst) {
  AssessmentSchedule schedule(100);
  std::vector<int> assessed;
  for (int i = 0; i <= 300; ++i) {
    if (!schedule.IsDue(i)) continue;
    assessed.push_back(i);
    schedule.Assessed(i, i < 10 ? 5 : 1);
  }
  EXPECT_EQ((std::vector<int>{0, 1, 2, 4, 8, 16, 32, 64, 164, 264}), assessed);
}

TEST(AssessmentScheduleTest, MovingBoundsShortenTheInterval) {
  AssessmentSchedule schedule(100);
  schedule.Assessed(200, 3);
  EXPECT_EQ(250, schedule.next());
  schedule.Assessed(250, 3);
  EXPECT_EQ(275, schedule.next());
  schedule.Assessed(275, 1.1);
  EXPECT_EQ(325, schedule.next());
  schedule.Assessed(325, 1.1);
  EXPECT_EQ(425, schedule.next());
  schedule.Assessed(425, 1.1);
  EXPECT_EQ(525, schedule.next());
}

}  // namespace

}  // namespace caffe
