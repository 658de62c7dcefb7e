#include "caffe/layers/neuron_layer.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "layer_test.hpp"

// Layers that compute a function of every value by itself.

namespace caffe {

using testing::HasSubstr;

namespace {

struct Neuron {
  string prototxt;
  // By its definition.
  std::function<double(double)> function;
  // The range of bottoms.
  double lowest = -3;
  double highest = 3;
};

string Elu(const string& alpha) {
  return "type: 'ELU' elu_param { alpha: " + alpha + " }";
}
double EluOf(double alpha, double x) {
  return x > 0 ? x : alpha * (std::exp(x) - 1);
}
double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

const vector<Neuron>& Neurons() {
  static const vector<Neuron> neurons = {
      {"type: 'BNLL'", [](double x) { return std::log(1 + std::exp(x)); }},
      {"type: 'ELU'", [](double x) { return EluOf(1, x); }},
      {Elu("0.5"), [](double x) { return EluOf(0.5, x); }},
      {Elu("-0.3"), [](double x) { return EluOf(-0.3, x); }},
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

  void FillBottom(const vector<int>& shape, const Neuron& neuron) {
    this->bottom_.Reshape(shape);
    caffe_rng_uniform<Dtype>(this->bottom_.count(), neuron.lowest,
                             neuron.highest, this->bottom_.mutable_cpu_data());
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
    this->FillBottom({2, 3, 4, 5}, neuron);
    for (const cpu::Kernels kernels :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(kernels);
      this->ExpectFunction(neuron);
    }
  }
}

TYPED_TEST(NeuronLayerTest, LargeBlobsAreSharedAmongThreads) {
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({5, 20011}, neuron);
    this->ExpectFunction(neuron);
  }
}

TYPED_TEST(NeuronLayerTest, InPlace) {
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({3, 5, 7}, neuron);
    this->ExpectSameInPlace(neuron.prototxt);
  }
}

TYPED_TEST(NeuronLayerTest, Gradients) {
  for (const Neuron& neuron : Neurons()) {
    SCOPED_TRACE(neuron.prototxt);
    this->FillBottom({2, 3, 7}, neuron);
    // Away from zero, where some have a kink.
    for (int i = 0; i < this->bottom_.count(); ++i) {
      auto& value = this->bottom_.mutable_cpu_data()[i];
      if (std::fabs(value) < 0.02) value += 0.04;
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
  for (const Neuron& neuron : Neurons()) {
    this->FillBottom({3}, neuron);
    this->bottom_.mutable_cpu_data()[1] =
        std::numeric_limits<double>::quiet_NaN();
    this->Forward(neuron.prototxt);
    EXPECT_TRUE(std::isnan(this->top_.cpu_data()[1])) << neuron.prototxt;
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
