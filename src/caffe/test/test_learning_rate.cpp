#include "solvers/learning_rate.hpp"

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "solver_test_util.hpp"

namespace caffe {

// The rate at the last of the iterations 0 to `iter`.
double RateAt(const string& text, int iter) {
  const SolverParameter param = ParseSolver(text);
  CheckLearningRatePolicy(param);
  int step = 0;
  for (int i = 0; i <= iter; ++i) step = LearningRateStep(param, i, step);
  return LearningRate(param, iter, step);
}

TEST(LearningRateTest, FixedStaysAtTheBase) {
  const string text = "lr_policy: 'fixed' base_lr: 0.25";
  EXPECT_DOUBLE_EQ(0.25, RateAt(text, 0));
  EXPECT_DOUBLE_EQ(0.25, RateAt(text, 1000));
}

TEST(LearningRateTest, StepMultipliesEveryStepsize) {
  const string text = "lr_policy: 'step' base_lr: 0.5 gamma: 0.25 stepsize: 10";
  EXPECT_DOUBLE_EQ(0.5, RateAt(text, 9));
  EXPECT_DOUBLE_EQ(0.125, RateAt(text, 10));
  EXPECT_DOUBLE_EQ(0.125, RateAt(text, 19));
  EXPECT_DOUBLE_EQ(0.0078125, RateAt(text, 35));
}

TEST(LearningRateTest, StepDoesNotNeedTheStepsBefore) {
  const SolverParameter param = ParseSolver("lr_policy: 'step' stepsize: 10");
  EXPECT_EQ(7, LearningRateStep(param, 79, 0));
}

TEST(LearningRateTest, ExpMultipliesEveryIteration) {
  const string text = "lr_policy: 'exp' base_lr: 2 gamma: 0.5";
  EXPECT_DOUBLE_EQ(2, RateAt(text, 0));
  EXPECT_DOUBLE_EQ(0.25, RateAt(text, 3));
}

TEST(LearningRateTest, InvFallsWithAPower) {
  const string text = "lr_policy: 'inv' base_lr: 3 gamma: 0.5 power: 2";
  EXPECT_DOUBLE_EQ(3, RateAt(text, 0));
  // (1 + 0.5 * 4) ^ -2 = 1/9.
  EXPECT_DOUBLE_EQ(3. / 9, RateAt(text, 4));
}

TEST(LearningRateTest, MultistepMultipliesAtEveryValue) {
  const string text =
      "lr_policy: 'multistep' base_lr: 1 gamma: 0.5 "
      "stepvalue: 5 stepvalue: 6 stepvalue: 20";
  EXPECT_DOUBLE_EQ(1, RateAt(text, 4));
  EXPECT_DOUBLE_EQ(0.5, RateAt(text, 5));
  EXPECT_DOUBLE_EQ(0.25, RateAt(text, 6));
  EXPECT_DOUBLE_EQ(0.25, RateAt(text, 19));
  EXPECT_DOUBLE_EQ(0.125, RateAt(text, 20));
  EXPECT_DOUBLE_EQ(0.125, RateAt(text, 2000));
}

TEST(LearningRateTest, MultistepCatchesUpOneStepAnIteration) {
  const SolverParameter param = ParseSolver(
      "lr_policy: 'multistep' stepvalue: 5 stepvalue: 6 stepvalue: 20");
  EXPECT_EQ(1, LearningRateStep(param, 100, 0));
  EXPECT_EQ(2, LearningRateStep(param, 101, 1));
  EXPECT_EQ(3, LearningRateStep(param, 102, 2));
  EXPECT_EQ(3, LearningRateStep(param, 103, 3));
}

TEST(LearningRateTest, PolyReachesZeroAtTheEndAndStaysThere) {
  const string text = "lr_policy: 'poly' base_lr: 8 power: 2 max_iter: 100";
  EXPECT_DOUBLE_EQ(8, RateAt(text, 0));
  EXPECT_DOUBLE_EQ(2, RateAt(text, 50));
  EXPECT_DOUBLE_EQ(0, RateAt(text, 100));
  EXPECT_DOUBLE_EQ(
      0, RateAt("lr_policy: 'poly' base_lr: 8 power: 0.5 max_iter: 100", 150));
}

TEST(LearningRateTest, SigmoidIsHalfWayAtStepsize) {
  const string text =
      "lr_policy: 'sigmoid' base_lr: 4 gamma: -0.5 stepsize: 10";
  EXPECT_DOUBLE_EQ(2, RateAt(text, 10));
  // exp(0.5 * (14 - 10)) = e^2.
  EXPECT_DOUBLE_EQ(4 / (1 + std::exp(2.)), RateAt(text, 14));
  EXPECT_DOUBLE_EQ(4 / (1 + std::exp(-5.)), RateAt(text, 0));
}

TEST(LearningRateTest, ExplainsWhatIsMissing) {
  const auto error_of = [](const string& text) {
    return ErrorOf([&] { CheckLearningRatePolicy(ParseSolver(text)); });
  };
  EXPECT_EQ(
      "the solver has no lr_policy; use one of exp, fixed, inv, multistep, "
      "poly, sigmoid, step",
      error_of("base_lr: 1"));
  EXPECT_EQ(
      "unknown lr_policy 'cosine'; use one of exp, fixed, inv, multistep, "
      "poly, sigmoid, step",
      error_of("lr_policy: 'cosine'"));
  EXPECT_EQ("lr_policy 'step' needs a positive stepsize, not 0",
            error_of("lr_policy: 'step'"));
  EXPECT_EQ("lr_policy 'poly' needs a positive max_iter, not -3",
            error_of("lr_policy: 'poly' max_iter: -3"));
}

}  // namespace caffe
