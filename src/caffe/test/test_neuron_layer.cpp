#include "caffe/layers/neuron_layer.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "layer_test.hpp"

// Layers that compute a function of every value by itself.

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Neuron {
  string prototxt;
  // By its definition.
  std::function<double(double)> function;
  // Where it has no derivative.
  vector<double> kinks = {};
};

string Elu(const string& alpha) {
  return "type: 'ELU' elu_param { alpha: " + alpha + " }";
}
double EluOf(double alpha, double x) {
  return x > 0 ? x : alpha * (std::exp(x) - 1);
}
string Power(const string& settings) {
  return "type: 'Power' power_param { " + settings + " }";
}
double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

const vector<Neuron>& Neurons() {
  static const vector<Neuron> neurons = {
      {"type: 'AbsVal'", [](double x) { return std::fabs(x); }, {0}},
      {"type: 'BNLL'", [](double x) { return std::log(1 + std::exp(x)); }},
      {"type: 'Clip' clip_param { min: -1.5 max: 2 }",
       [](double x) { return x < -1.5 ? -1.5
                             : x > 2  ? 2
                                      : x; },
       {-1.5, 2}},
      {"type: 'ELU'", [](double x) { return EluOf(1, x); }},
      {Elu("0.5"), [](double x) { return EluOf(0.5, x); }, {0}},
      {Elu("-0.3"), [](double x) { return EluOf(-0.3, x); }, {0}},
      {"type: 'Exp'", [](double x) { return std::exp(x); }},
      {"type: 'Exp' exp_param { base: 2 scale: 0.5 shift: 1 }",
       [](double x) { return std::pow(2, 0.5 * x + 1); }},
      {"type: 'Exp' exp_param { scale: -2 shift: -1 }",
       [](double x) { return std::exp(-2 * x - 1); }},
      {"type: 'Log' log_param { shift: 4 }",
       [](double x) { return std::log(x + 4); }},
      {"type: 'Log' log_param { base: 2 scale: -3 shift: 10 }",
       [](double x) { return std::log2(10 - 3 * x); }},
      {"type: 'Log' log_param { base: 0.5 shift: 4 }",
       [](double x) { return -std::log2(x + 4); }},
      {"type: 'Power'", [](double x) { return x; }},
      {Power("scale: -2 shift: 1"), [](double x) { return 1 - 2 * x; }},
      {Power("power: 2 scale: 0.5 shift: 1"),
       [](double x) { return (0.5 * x + 1) * (0.5 * x + 1); }},
      {Power("power: 3"), [](double x) { return x * x * x; }},
      {Power("power: 0.37 scale: 0.5 shift: 2"),
       [](double x) { return std::pow(0.5 * x + 2, 0.37); }},
      {Power("power: -1 shift: 5"), [](double x) { return 1 / (x + 5); }},
      {Power("power: 0 shift: 5"), [](double) { return 1; }},
      {Power("power: 3 scale: 0 shift: 2"), [](double) { return 8; }},
      {"type: 'Sigmoid'", SigmoidOf},
      {"type: 'Sigmoid' sigmoid_param { engine: CAFFE }", SigmoidOf},
      {"type: 'Swish'", [](double x) { return x * SigmoidOf(x); }},
      {"type: 'Swish' swish_param { beta: 1.7 }",
       [](double x) { return x * SigmoidOf(1.7 * x); }},
      {"type: 'TanH'", [](double x) { return std::tanh(x); }},
      {"type: 'TanH' tanh_param { engine: CAFFE }",
       [](double x) { return std::tanh(x); }},
  };
  return neurons;
}

}  // namespace

template <typename TypeParam>
class NeuronLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  void FillBottom(const vector<int>& shape) {
    this->bottom_.Reshape(shape);
    caffe_rng_uniform<Dtype>(this->bottom_.count(), -3, 3,
                             this->bottom_.mutable_cpu_data());
  }

  void ExpectFunction(const Neuron& neuron) {
    const vector<Dtype> in = this->DataOf(this->bottom_);
    this->Forward(neuron.prototxt);
    ASSERT_EQ(this->bottom_.shape(), this->top_.shape());
    for (size_t i = 0; i < in.size(); ++i) {
      const double expected = neuron.function(in[i]);
      ASSERT_NEAR(expected, this->top_.cpu_data()[i],
                  1e-5 * std::max(1.0, std::fabs(expected)))
          << neuron.prototxt << " of " << in[i];
    }
  }
};

TYPED_TEST_SUITE(NeuronLayerTest, TestDtypesAndDevices);

TYPED_TEST(NeuronLayerTest, ComputeTheirFunctions) {
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({2, 3, 4, 5});
    for (const cpu::Kernels kernels :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(kernels);
      this->ExpectFunction(neuron);
    }
  }
}

TYPED_TEST(NeuronLayerTest, LargeBlobsAreSharedAmongThreads) {
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({5, 20011});
    this->ExpectFunction(neuron);
  }
}

TYPED_TEST(NeuronLayerTest, EmptyBatches) {
  for (const Neuron& neuron : Neurons()) {
    this->bottom_.Reshape(vector<int>{0, 3});
    const auto layer = this->Forward(neuron.prototxt);
    this->Backward(layer.get());
    EXPECT_EQ(this->bottom_.shape(), this->top_.shape());
  }
}

TYPED_TEST(NeuronLayerTest, InPlace) {
  for (const Neuron& neuron : Neurons()) {
    if (neuron.prototxt == "type: 'AbsVal'") continue;
    SCOPED_TRACE(neuron.prototxt);
    this->FillBottom({3, 5, 7});
    this->ExpectSameInPlace(neuron.prototxt);
  }
}

TYPED_TEST(NeuronLayerTest, Gradients) {
  for (const Neuron& neuron : Neurons()) {
    SCOPED_TRACE(neuron.prototxt);
    this->FillBottom({2, 3, 7});
    for (int i = 0; i < this->bottom_.count(); ++i) {
      auto& value = this->bottom_.mutable_cpu_data()[i];
      for (const double kink : neuron.kinks) {
        if (std::fabs(value - kink) < 0.02) value += 0.04;
      }
    }
    for (const cpu::Kernels kernels :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      typedef typename TypeParam::Dtype Dtype;
      const cpu::ScopedKernels scope(kernels);
      const auto layer = this->Make(neuron.prototxt);
      GradientChecker<Dtype>(1e-2, 1e-2)
          .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
    }
  }
}

TYPED_TEST(NeuronLayerTest, WhatIsNotANumberStaysSo) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({3});
    this->bottom_.mutable_cpu_data()[1] = kNaN;
    this->Forward(neuron.prototxt);
    // But not where all values give the same.
    EXPECT_EQ(std::isnan(neuron.function(kNaN)),
              std::isnan(this->top_.cpu_data()[1]))
        << neuron.prototxt;
    EXPECT_FALSE(std::isnan(this->top_.cpu_data()[2])) << neuron.prototxt;
  }
}

// Far from zero, exponentials overflow where the function does not.
TYPED_TEST(NeuronLayerTest, LargeValuesAndTheirGradients) {
  const auto run = [&](const string& prototxt) {
    this->FillValues({2}, {-1000, 1000}, &this->bottom_);
    const auto layer = this->Forward(prototxt);
    caffe_set(2, typename TypeParam::Dtype(3), this->top_.mutable_cpu_diff());
    this->Backward(layer.get());
  };
  const auto expect = [&](const vector<double>& values,
                          const vector<double>& diffs) {
    EXPECT_THAT(this->DataOf(this->top_), this->IsNear(values));
    EXPECT_THAT(this->DiffOf(this->bottom_), this->IsNear(diffs));
  };
  run("type: 'BNLL'");
  expect({0, 1000}, {0, 3});
  run("type: 'ELU'");
  expect({-1, 1000}, {0, 3});
  run(Elu("2"));
  expect({-2, 1000}, {0, 3});
  run("type: 'Sigmoid'");
  expect({0, 1}, {0, 0});
  run("type: 'Swish'");
  expect({0, 1000}, {0, 3});
  run("type: 'TanH'");
  expect({-1, 1}, {0, 0});
}

TYPED_TEST(NeuronLayerTest, GradientsAtKinks) {
  const auto gradients = [&](const string& prototxt) {
    this->FillValues({5}, {-2, -0.5, 0, 1, 3}, &this->bottom_);
    const auto layer = this->Forward(prototxt);
    caffe_set(5, typename TypeParam::Dtype(3), this->top_.mutable_cpu_diff());
    this->Backward(layer.get());
    return this->DiffOf(this->bottom_);
  };
  EXPECT_THAT(gradients("type: 'AbsVal'"), ElementsAre(-3, -3, 0, 3, 3));
  // Limits belong to the range.
  EXPECT_THAT(gradients("type: 'Clip' clip_param { min: -0.5 max: 1 }"),
              ElementsAre(0, 3, 3, 3, 0));
  EXPECT_THAT(gradients("type: 'ELU'"),
              this->IsNear({3 * std::exp(-2), 3 * std::exp(-0.5), 3, 3, 3}));
  EXPECT_THAT(gradients(Power("power: 2")), ElementsAre(-12, -3, 0, 6, 18));
  EXPECT_THAT(gradients(Power("power: 3")), ElementsAre(36, 2.25, 0, 9, 81));
}

TYPED_TEST(NeuronLayerTest, LogarithmsOfWhatHasNone) {
  this->FillValues({3}, {0, -1, 1}, &this->bottom_);
  const auto layer = this->Forward("type: 'Log'");
  EXPECT_EQ(-std::numeric_limits<double>::infinity(), this->top_.cpu_data()[0]);
  EXPECT_TRUE(std::isnan(this->top_.cpu_data()[1]));
  EXPECT_EQ(0, this->top_.cpu_data()[2]);
}

TYPED_TEST(NeuronLayerTest, ThresholdIsOneAbove) {
  this->FillValues({5}, {-3, -0.5, 0, 0.25, 7}, &this->bottom_);
  auto layer = this->Forward("type: 'Threshold'");
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ("a threshold has no gradient",
            ErrorOf([&] { this->Backward(layer.get()); }));
  EXPECT_NO_THROW(layer->Backward(this->tops_, {false}, this->bottoms_));
  this->tops_ = this->bottoms_;
  this->Forward("type: 'Threshold' threshold_param { threshold: -0.5 }");
  EXPECT_THAT(this->DataOf(this->bottom_), ElementsAre(0, 0, 1, 1, 1));
}

TYPED_TEST(NeuronLayerTest, RefuseSettingsWithoutMeaning) {
  this->FillBottom({3});
  for (const string base : {"0", "-2", "inf", "nan"}) {
    EXPECT_THAT(
        this->SetUpError("type: 'Exp' exp_param { base: " + base + " }"),
        HasSubstr("its base must be above 0, or -1 for e"));
    EXPECT_THAT(
        this->SetUpError("type: 'Log' log_param { base: " + base + " }"),
        HasSubstr("its base must be above 0, or -1 for e"));
  }
  EXPECT_EQ("there are no logarithms with a base of 1",
            this->SetUpError("type: 'Log' log_param { base: 1 }"));
  EXPECT_EQ("needs clip_param with min and max",
            this->SetUpError("type: 'Clip'"));
  EXPECT_EQ("its min, 1, must not be above its max, -1",
            this->SetUpError("type: 'Clip' clip_param { min: 1 max: -1 }"));
  this->tops_ = this->bottoms_;
  EXPECT_EQ("cannot work in place: backward needs the signs of its bottom",
            this->SetUpError("type: 'AbsVal'"));
}

TYPED_TEST(NeuronLayerTest, TakeOneBottomAndOneTop) {
  for (const Neuron& neuron : Neurons()) {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_};
    EXPECT_THAT(this->SetUpError(neuron.prototxt), HasSubstr("1 bottom"));
    this->bottoms_ = {&this->bottom_};
    this->tops_ = {&this->top_, &this->top_b_};
    EXPECT_THAT(this->SetUpError(neuron.prototxt), HasSubstr("1 top"));
    this->tops_ = {&this->top_};
  }
}

}  // namespace caffe
