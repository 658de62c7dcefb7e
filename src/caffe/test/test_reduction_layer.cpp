#include "caffe/layers/reduction_layer.hpp"

#include <cmath>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

string Reduction(const string& settings) {
  return "type: 'Reduction' reduction_param { " + settings + " }";
}

template <typename TypeParam>
class ReductionLayerTest : public LayerTest<TypeParam> {
 protected:
  ReductionLayerTest() {
    this->FillValues({2, 1, 3}, {1, -2, 4, 0, -5, 2}, &this->bottom_);
  }
};

TYPED_TEST_SUITE(ReductionLayerTest, TestDtypesAndDevices);

TYPED_TEST(ReductionLayerTest, EveryOperation) {
  const auto forward = [this](const string& settings) {
    this->Forward(Reduction("axis: 1 " + settings));
    EXPECT_THAT(this->top_.shape(), ElementsAre(2));
    return this->DataOf(this->top_);
  };
  EXPECT_THAT(forward(""), ElementsAre(3, -3));
  EXPECT_THAT(forward("operation: ASUM"), ElementsAre(7, 7));
  EXPECT_THAT(forward("operation: SUMSQ"), ElementsAre(21, 29));
  EXPECT_THAT(forward("operation: MEAN"), ElementsAre(1, -1));
  EXPECT_THAT(forward("coeff: -2"), ElementsAre(-6, 6));
  EXPECT_THAT(forward("operation: MEAN coeff: 5"), ElementsAre(5, -5));
}

TYPED_TEST(ReductionLayerTest, Axes) {
  this->Forward("type: 'Reduction'");
  EXPECT_THAT(this->top_.shape(), ElementsAre());
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(0));
  this->Forward(Reduction("axis: -1"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 1));
}

// Float sums of so many values would lose digits.
TYPED_TEST(ReductionLayerTest, ManyValues) {
  this->bottom_.Reshape({3, 1000003});
  for (int i = 0; i < this->bottom_.count(); ++i) {
    this->bottom_.mutable_cpu_data()[i] = i % 2 == 0 ? 0.5 : -0.25;
  }
  this->Forward(Reduction("axis: 1 operation: ASUM"));
  // Rows of an odd number of values begin with both in turn.
  EXPECT_THAT(this->DataOf(this->top_),
              testing::Pointwise(testing::DoubleNear(0.1),
                                 vector<double>{375001.25, 375001, 375001.25}));
}

TYPED_TEST(ReductionLayerTest, ZerosHaveNoGradientOfAbsoluteValues) {
  const auto layer = this->Forward(Reduction("axis: 1 operation: ASUM"));
  this->top_.mutable_cpu_diff()[0] = 3;
  this->top_.mutable_cpu_diff()[1] = 5;
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(3, -3, 3, 0, -5, 5));
}

TYPED_TEST(ReductionLayerTest, Gradient) {
  this->FillNormal({2, 3, 2}, &this->bottom_);
  for (const char* axis : {"axis: 0", "axis: 1", "axis: 2"}) {
    for (const char* operation : {"SUM", "ASUM", "SUMSQ", "MEAN"}) {
      this->CheckGradients(
          Reduction(string(axis) + " coeff: 2.5 operation: " + operation), 1e-2,
          2e-3);
    }
  }
}

TYPED_TEST(ReductionLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError(Reduction("axis: 3")), HasSubstr("axis 3"));
  this->bottom_.Reshape({2, 0});
  EXPECT_THAT(this->SetUpError(Reduction("axis: 1 operation: MEAN")),
              HasSubstr("no mean"));
  this->Forward(Reduction("axis: 1"));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(0, 0));
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError("type: 'Reduction'"), HasSubstr("in place"));
}

}  // namespace caffe
