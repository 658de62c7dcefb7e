#include "caffe/layers/softmax_loss_layer.hpp"

#include <limits>

#include "caffe/filler.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_gradient_check_util.hpp"

namespace caffe {

template <typename TypeParam>
class SoftmaxWithLossLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SoftmaxWithLossLayerTest() : scores_(4, 5, 2, 3), labels_(4, 1, 2, 3) {
    Caffe::set_random_seed(1701);
    FillerParameter param;
    param.set_std(3);
    GaussianFiller<Dtype>(param).Fill(&scores_);
    for (int i = 0; i < labels_.count(); ++i) {
      labels_.mutable_cpu_data()[i] = i * 7 % 5;
    }
  }

  Dtype Loss(const LayerParameter& param) {
    SoftmaxWithLossLayer<Dtype> layer(param);
    layer.SetUp(bottoms_, tops_);
    return layer.Forward(bottoms_, tops_);
  }

  // The sum of the losses of all positions but those labelled `ignored`, by
  // the definition, for scores with classes on axis 1.
  double SumOfLosses(int ignored) const {
    const int classes = scores_.shape(1);
    const int inner = scores_.count(2);
    double sum = 0;
    for (int i = 0; i < labels_.count(); ++i) {
      const int label = static_cast<int>(labels_.cpu_data()[i]);
      if (label == ignored) continue;
      const Dtype* const scores =
          scores_.cpu_data() + i / inner * classes * inner + i % inner;
      double exps = 0;
      for (int c = 0; c < classes; ++c) {
        exps += std::exp(double(scores[c * inner]));
      }
      sum += std::log(exps) - scores[label * inner];
    }
    return sum;
  }

  static LayerParameter Ignoring(int label) {
    LayerParameter param;
    param.mutable_loss_param()->set_ignore_label(label);
    return param;
  }

  Blob<Dtype> scores_;
  Blob<Dtype> labels_;
  Blob<Dtype> loss_;
  Blob<Dtype> probabilities_;
  vector<Blob<Dtype>*> bottoms_ = {&scores_, &labels_};
  vector<Blob<Dtype>*> tops_ = {&loss_};
};

TYPED_TEST_SUITE(SoftmaxWithLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(SoftmaxWithLossLayerTest, NormalizesByTheRuleAskedFor) {
  const double all = this->SumOfLosses(-1);
  EXPECT_NEAR(all / 24, this->Loss(LayerParameter()), 1e-5);
  EXPECT_EQ(0, this->loss_.num_axes());
  EXPECT_NEAR(all / 24, this->loss_.cpu_data()[0], 1e-5);

  // Labels are 0 2 4 1 3 0 2 ...: five of 24 are 2.
  const double without_two = this->SumOfLosses(2);
  LayerParameter param = this->Ignoring(2);
  EXPECT_NEAR(without_two / 19, this->Loss(param), 1e-5);
  LossParameter* const loss = param.mutable_loss_param();
  loss->set_normalization(LossParameter::VALID);
  EXPECT_NEAR(without_two / 19, this->Loss(param), 1e-5);
  loss->set_normalization(LossParameter::FULL);
  EXPECT_NEAR(without_two / 24, this->Loss(param), 1e-5);
  loss->set_normalization(LossParameter::BATCH_SIZE);
  EXPECT_NEAR(without_two / 4, this->Loss(param), 1e-5);
  loss->set_normalization(LossParameter::NONE);
  EXPECT_NEAR(without_two, this->Loss(param), 1e-4);
}

TYPED_TEST(SoftmaxWithLossLayerTest, LegacyNormalizeCountsOnlyAlone) {
  const double without_two = this->SumOfLosses(2);
  LayerParameter param = this->Ignoring(2);
  LossParameter* const loss = param.mutable_loss_param();
  loss->set_normalize(true);
  EXPECT_NEAR(without_two / 19, this->Loss(param), 1e-5);
  loss->set_normalize(false);
  EXPECT_NEAR(without_two / 4, this->Loss(param), 1e-5);
  loss->set_normalization(LossParameter::FULL);
  EXPECT_NEAR(without_two / 24, this->Loss(param), 1e-5);
}

TYPED_TEST(SoftmaxWithLossLayerTest, ABatchWithoutValidLabelsHasNoLoss) {
  typedef typename TypeParam::Dtype Dtype;
  caffe_set(this->labels_.count(), Dtype(255),
            this->labels_.mutable_cpu_data());
  SoftmaxWithLossLayer<Dtype> layer(this->Ignoring(255));
  layer.SetUp(this->bottoms_, this->tops_);
  EXPECT_EQ(0, layer.Forward(this->bottoms_, this->tops_));
  layer.Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_EQ(0, this->scores_.asum_diff());
}

TYPED_TEST(SoftmaxWithLossLayerTest, LossesOfHandWorkedScores) {
  typedef typename TypeParam::Dtype Dtype;
  this->scores_.Reshape({2, 2});
  this->labels_.Reshape({2});
  const Dtype scores[] = {0, 0, 1000, 0};
  std::copy_n(scores, 4, this->scores_.mutable_cpu_data());
  this->labels_.mutable_cpu_data()[0] = 1;
  this->labels_.mutable_cpu_data()[1] = 0;
  EXPECT_NEAR(std::log(2.) / 2, this->Loss(LayerParameter()), 1e-6);
  // A probability of zero counts as the smallest normal float.
  this->labels_.mutable_cpu_data()[1] = 1;
  EXPECT_NEAR((std::log(2.) - std::log(FLT_MIN)) / 2,
              this->Loss(LayerParameter()), 1e-4);
}

TYPED_TEST(SoftmaxWithLossLayerTest, DivergedScoresGiveALossThatShowsIt) {
  typedef typename TypeParam::Dtype Dtype;
  caffe_set(this->scores_.count(), std::numeric_limits<Dtype>::quiet_NaN(),
            this->scores_.mutable_cpu_data());
  EXPECT_TRUE(std::isnan(this->Loss(LayerParameter())));
}

TYPED_TEST(SoftmaxWithLossLayerTest, LargeBatchesAddUp) {
  typedef typename TypeParam::Dtype Dtype;
  this->scores_.Reshape({3, 5, 50, 61});
  this->labels_.Reshape({3, 50, 61});
  GaussianFiller<Dtype>(FillerParameter()).Fill(&this->scores_);
  for (int i = 0; i < this->labels_.count(); ++i) {
    this->labels_.mutable_cpu_data()[i] = i * i % 5;
  }
  EXPECT_NEAR(this->SumOfLosses(-1) / this->labels_.count(),
              this->Loss(LayerParameter()), 1e-5);
}

TYPED_TEST(SoftmaxWithLossLayerTest, ASecondTopGetsTheProbabilities) {
  typedef typename TypeParam::Dtype Dtype;
  const Dtype loss = this->Loss(LayerParameter());
  this->tops_.push_back(&this->probabilities_);
  EXPECT_EQ(loss, this->Loss(LayerParameter()));
  ASSERT_EQ(this->scores_.shape(), this->probabilities_.shape());
  for (int n = 0; n < 4; ++n) {
    for (int h = 0; h < 2; ++h) {
      for (int w = 0; w < 3; ++w) {
        Dtype sum = 0;
        for (int c = 0; c < 5; ++c) {
          sum += this->probabilities_.data_at(n, c, h, w);
        }
        EXPECT_NEAR(1, sum, 1e-5);
      }
    }
  }
  LayerParameter weighted;
  weighted.add_loss_weight(3);
  weighted.add_loss_weight(0);
  EXPECT_NEAR(3 * loss, this->Loss(weighted), 1e-4);
}

TYPED_TEST(SoftmaxWithLossLayerTest, RefusesLabelsOutsideTheClasses) {
  typedef typename TypeParam::Dtype Dtype;
  for (const Dtype label : {Dtype(5), Dtype(-1), Dtype(1e30),
                            std::numeric_limits<Dtype>::quiet_NaN()}) {
    this->labels_.mutable_cpu_data()[3] = label;
    EXPECT_THROW(this->Loss(LayerParameter()), Error) << label;
  }
  this->labels_.mutable_cpu_data()[3] = 5;
  try {
    this->Loss(LayerParameter());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(
        "label 5 (number 3 of the batch) is not one of the 5 classes "
        "0 to 4",
        error.what());
  }
  EXPECT_NO_THROW(this->Loss(this->Ignoring(5)));
}

TYPED_TEST(SoftmaxWithLossLayerTest, RefusesShapesThatDoNotFit) {
  this->labels_.Reshape({3, 1, 2, 3});
  EXPECT_THROW(this->Loss(LayerParameter()), Error);
  this->labels_.Reshape({4, 1, 2, 2});
  EXPECT_THROW(this->Loss(LayerParameter()), Error);
}

TYPED_TEST(SoftmaxWithLossLayerTest, LabelsGetNoGradients) {
  typedef typename TypeParam::Dtype Dtype;
  SoftmaxWithLossLayer<Dtype> layer{LayerParameter()};
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  EXPECT_FALSE(layer.AllowForceBackward(1));
  EXPECT_TRUE(layer.AllowForceBackward(0));
  EXPECT_THROW(layer.Backward(this->tops_, {true, true}, this->bottoms_),
               Error);
}

TYPED_TEST(SoftmaxWithLossLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  LayerParameter ignoring = this->Ignoring(0);
  LayerParameter not_normalized = this->Ignoring(3);
  not_normalized.mutable_loss_param()->set_normalization(LossParameter::NONE);
  LayerParameter weighted;
  weighted.add_loss_weight(3);
  for (const LayerParameter& param :
       {LayerParameter(), ignoring, not_normalized, weighted}) {
    SoftmaxWithLossLayer<Dtype> layer(param);
    GradientChecker<Dtype>(1e-2, 1e-2, 1701)
        .CheckGradientExhaustive(&layer, this->bottoms_, this->tops_, 0);
  }
}

TYPED_TEST(SoftmaxWithLossLayerTest, GradientWithClassesOnTheLastAxis) {
  typedef typename TypeParam::Dtype Dtype;
  this->labels_.Reshape({4, 5, 2});
  for (int i = 0; i < this->labels_.count(); ++i) {
    this->labels_.mutable_cpu_data()[i] = i % 3;
  }
  LayerParameter param;
  param.mutable_softmax_param()->set_axis(-1);
  SoftmaxWithLossLayer<Dtype> layer(param);
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradientExhaustive(&layer, this->bottoms_, this->tops_, 0);
}

}  // namespace caffe
