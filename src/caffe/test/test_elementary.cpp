#include "cpu/elementary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

// Elementary functions of arrays against those of the standard library.

namespace caffe::cpu {

namespace {

struct Function {
  Elementary function;
  const char* name;
  // In more digits than are asked for.
  long double (*exact)(long double);
};

const Function kFunctions[] = {
    {Elementary::kExp, "exp", [](long double x) { return std::exp(x); }},
    {Elementary::kExpm1, "expm1", [](long double x) { return std::expm1(x); }},
    {Elementary::kLog, "log", [](long double x) { return std::log(x); }},
    {Elementary::kSigmoid, "sigmoid",
     [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {Elementary::kSoftplus, "softplus",
     [](long double x) { return x > 100 ? x : std::log1p(std::exp(x)); }},
    {Elementary::kTanh, "tanh", [](long double x) { return std::tanh(x); }},
};

template <typename Dtype>
class ElementaryTest : public testing::Test {
 protected:
  // Of the values, and of those with the other sign.
  static std::vector<Dtype> Inputs() {
    using Limits = std::numeric_limits<Dtype>;
    std::vector<Dtype> inputs = {0,
                                 Limits::infinity(),
                                 Limits::max(),
                                 Limits::min(),
                                 Limits::epsilon(),
                                 Limits::quiet_NaN()};
    for (double x = 1e-6; x < 2000; x *= 1.07) inputs.push_back(Dtype(x));
    const size_t count = inputs.size();
    for (size_t i = 0; i < count; ++i) inputs.push_back(-inputs[i]);
    return inputs;
  }

  static void ExpectNear(const Function& function, Dtype x, Dtype found) {
    using Limits = std::numeric_limits<Dtype>;
    const Dtype expected = static_cast<Dtype>(function.exact(x));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << function.name << " of " << x;
    } else if (std::isinf(expected)) {
      EXPECT_EQ(expected, found) << function.name << " of " << x;
    } else {
      // What is below the smallest normal number may be lost.
      const Dtype tolerance =
          8 * Limits::epsilon() * std::fabs(expected) + 2 * Limits::min();
      EXPECT_NEAR(expected, found, tolerance) << function.name << " of " << x;
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ElementaryTest, Types);

TYPED_TEST(ElementaryTest, AreRightEverywhere) {
  const std::vector<TypeParam> in = this->Inputs();
  for (const Kernels kernels : {Kernels::kFastest, Kernels::kReference}) {
    for (const Function& function : kFunctions) {
      std::vector<TypeParam> out(in.size());
      Apply(function.function, kernels, in.size(), in.data(), out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        this->ExpectNear(function, in[i], out[i]);
      }
    }
  }
}

TYPED_TEST(ElementaryTest, AnyNumberOfValuesInPlace) {
  for (int n = 0; n < 40; ++n) {
    std::vector<TypeParam> values(n + 1);
    for (int i = 0; i < n; ++i) values[i] = TypeParam(i - 7) / 4;
    values[n] = 5;
    const std::vector<TypeParam> in = values;
    Apply(Elementary::kTanh, Kernels::kFastest, n, values.data(),
          values.data());
    for (int i = 0; i < n; ++i)
      this->ExpectNear(kFunctions[5], in[i], values[i]);
    EXPECT_EQ(5, values[n]);
  }
}

}  // namespace

}  // namespace caffe::cpu
