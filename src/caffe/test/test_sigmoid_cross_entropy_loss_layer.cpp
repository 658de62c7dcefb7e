#include "caffe/layers/sigmoid_cross_entropy_loss_layer.hpp"

#include <limits>

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

template <typename TypeParam>
class SigmoidCrossEntropyLossLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SigmoidCrossEntropyLossLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_};
    this->FillNormal({4, 3, 2}, &this->bottom_, 2);
    this->bottom_b_.Reshape({4, 3, 2});
    caffe_rng_uniform<Dtype>(24, 0, 1, this->bottom_b_.mutable_cpu_data());
    // Five of the 24 are 2, which is to be ignored.
    for (const int i : {0, 3, 8, 13, 23}) {
      this->bottom_b_.mutable_cpu_data()[i] = 2;
    }
  }

  Dtype Loss(const string& settings) {
    this->Forward("type: 'SigmoidCrossEntropyLoss' " + settings);
    return this->top_.cpu_data()[0];
  }

  // By the definition, of all targets but `ignored`.
  double SumOfLosses(Dtype ignored) const {
    double sum = 0;
    for (int i = 0; i < this->bottom_.count(); ++i) {
      const double target = this->bottom_b_.cpu_data()[i];
      if (target == ignored) continue;
      const double p = 1 / (1 + std::exp(-double(this->bottom_.cpu_data()[i])));
      sum -= target * std::log(p) + (1 - target) * std::log(1 - p);
    }
    return sum;
  }
};

TYPED_TEST_SUITE(SigmoidCrossEntropyLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, DividesByTheItemsUnlessTold) {
  const double all = this->SumOfLosses(-1);
  EXPECT_NEAR(all / 4, this->Loss(""), 1e-4);
  EXPECT_EQ(0, this->top_.num_axes());
  const double some = this->SumOfLosses(2);
  EXPECT_NEAR(some / 4, this->Loss("loss_param { ignore_label: 2 }"), 1e-4);
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, NormalizesByTheRuleAskedFor) {
  const double some = this->SumOfLosses(2);
  const auto loss = [&](const string& settings) {
    return this->Loss("loss_param { ignore_label: 2 " + settings + " }");
  };
  EXPECT_NEAR(some / 24, loss("normalization: FULL"), 1e-4);
  EXPECT_NEAR(some / 19, loss("normalization: VALID"), 1e-4);
  EXPECT_NEAR(some / 4, loss("normalization: BATCH_SIZE"), 1e-4);
  EXPECT_NEAR(some, loss("normalization: NONE"), 1e-4);
  EXPECT_NEAR(some / 19, loss("normalize: true"), 1e-4);
  EXPECT_NEAR(some / 4, loss("normalize: false"), 1e-4);
  EXPECT_NEAR(some / 24, loss("normalize: true normalization: FULL"), 1e-4);
  EXPECT_NEAR(this->SumOfLosses(-1) / 24,
              this->Loss("loss_param { normalization: VALID }"), 1e-4);
}

// As in Caffe, where 0.7 is ignored when 0 is.
TYPED_TEST(SigmoidCrossEntropyLossLayerTest, CutsTargetsToSeeWhatIsIgnored) {
  this->FillValues({3}, {1, 2, 3}, &this->bottom_);
  this->FillValues({3}, {0.7, 1, -0.7}, &this->bottom_b_);
  EXPECT_NEAR(std::log(1 + std::exp(-2)),
              this->Loss("loss_param { ignore_label: 0 normalization: VALID }"),
              1e-5);
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, ABatchWithoutTargetsHasNoLoss) {
  caffe_set(24, typename TypeParam::Dtype(255),
            this->bottom_b_.mutable_cpu_data());
  const auto layer = this->Forward(
      "type: 'SigmoidCrossEntropyLoss' "
      "loss_param { ignore_label: 255 normalization: VALID }");
  EXPECT_EQ(0, this->top_.cpu_data()[0]);
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_EQ(0, this->bottom_.asum_diff());
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, LargeScoresDoNotOverflow) {
  this->FillValues({1, 4}, {1000, -1000, 1000, -1000}, &this->bottom_);
  this->FillValues({1, 4}, {1, 0, 0, 1}, &this->bottom_b_);
  const auto layer = this->Forward("type: 'SigmoidCrossEntropyLoss'");
  EXPECT_EQ(2000, this->top_.cpu_data()[0]);
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), this->IsNear({0, 0, 1, -1}));
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, DivergedScoresShow) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.mutable_cpu_data()[2] = std::numeric_limits<Dtype>::quiet_NaN();
  EXPECT_TRUE(std::isnan(this->Loss("")));
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, Gradient) {
  for (const char* const settings :
       {"", "loss_weight: 3.7", "loss_param { ignore_label: 2 }",
        "loss_param { ignore_label: 2 normalization: VALID }",
        "loss_param { ignore_label: 0 normalization: NONE }"}) {
    this->CheckGradients(string("type: 'SigmoidCrossEntropyLoss' ") + settings,
                         1e-2, 1e-2, 0);
  }
}

TYPED_TEST(SigmoidCrossEntropyLossLayerTest, RefusesWhatDoesNotFit) {
  const auto layer = this->Forward("type: 'SigmoidCrossEntropyLoss'");
  EXPECT_EQ("targets have no gradients",
            ErrorOf([&] { this->Backward(layer.get()); }));
  EXPECT_FALSE(layer->AllowForceBackward(1));
  this->bottom_b_.Reshape({4, 5});
  EXPECT_EQ(
      "its scores and its targets must be as many, not 4 3 2 (24) and "
      "4 5 (20)",
      this->SetUpError("type: 'SigmoidCrossEntropyLoss'"));
  this->bottom_b_.Reshape({3, 8});
  EXPECT_THAT(this->SetUpError("type: 'SigmoidCrossEntropyLoss'"),
              HasSubstr("must have the same first axis"));
}

}  // namespace caffe
