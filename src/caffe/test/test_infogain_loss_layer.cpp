#include "caffe/layers/infogain_loss_layer.hpp"

#include "caffe/util/io.hpp"
#include "layer_test.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using testing::HasSubstr;

template <typename TypeParam>
class InfogainLossLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // 3 classes; 6 of the 24 labels are 1.
  InfogainLossLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    this->FillNormal({4, 3, 2, 3}, &this->bottom_, 2);
    this->bottom_b_.Reshape({4, 1, 2, 3});
    for (int i = 0; i < 24; ++i) {
      this->bottom_b_.mutable_cpu_data()[i] = i % 4 == 3 ? 1 : i % 4 / 2 * 2;
    }
    this->FillValues({1, 1, 3, 3}, {1, 0.5, 0, 0.25, 2, -1, 0, 0, 3},
                     &this->bottom_c_);
  }

  Dtype Loss(const string& settings) {
    this->Forward("type: 'InfogainLoss' " + settings);
    return this->top_.cpu_data()[0];
  }

  // By the definition, of all labels but `ignored`; classes are on axis 1.
  double SumOfLosses(int ignored) const {
    double sum = 0;
    for (int i = 0; i < 24; ++i) {
      const int label = static_cast<int>(this->bottom_b_.cpu_data()[i]);
      if (label == ignored) continue;
      const Dtype* const scores = this->bottom_.cpu_data() + i / 6 * 18 + i % 6;
      double exps = 0;
      for (int c = 0; c < 3; ++c) exps += std::exp(double(scores[c * 6]));
      for (int c = 0; c < 3; ++c) {
        sum -= this->bottom_c_.cpu_data()[label * 3 + c] *
               (scores[c * 6] - std::log(exps));
      }
    }
    return sum;
  }

  // Writes the matrix to a file; its settings.
  static string WriteMatrix(const Blob<Dtype>& matrix, const string& path) {
    BlobProto proto;
    matrix.ToProto(&proto);
    WriteProtoToBinaryFile(proto, path);
    return "infogain_loss_param { source: '" + path + "' }";
  }
};

TYPED_TEST_SUITE(InfogainLossLayerTest, TestDtypesAndDevices);

TYPED_TEST(InfogainLossLayerTest, NormalizesByTheRuleAskedFor) {
  EXPECT_NEAR(this->SumOfLosses(-1) / 24, this->Loss(""), 1e-5);
  EXPECT_EQ(0, this->top_.num_axes());
  const double some = this->SumOfLosses(1);
  const auto loss = [&](const string& settings) {
    return this->Loss("loss_param { ignore_label: 1 " + settings + " }");
  };
  EXPECT_NEAR(some / 18, loss(""), 1e-5);
  EXPECT_NEAR(some / 18, loss("normalization: VALID"), 1e-5);
  EXPECT_NEAR(some / 24, loss("normalization: FULL"), 1e-5);
  EXPECT_NEAR(some / 4, loss("normalization: BATCH_SIZE"), 1e-5);
  EXPECT_NEAR(some, loss("normalization: NONE"), 1e-4);
}

TYPED_TEST(InfogainLossLayerTest, TheMatrixMayComeFromAFile) {
  const TemporaryFolder folder;
  const auto expected = this->Loss("");
  const string settings = this->WriteMatrix(this->bottom_c_, folder / "matrix");
  this->bottoms_.pop_back();
  EXPECT_EQ(expected, this->Loss(settings));
  EXPECT_EQ("needs a matrix: a third bottom, or infogain_loss_param.source",
            this->SetUpError("type: 'InfogainLoss'"));
  EXPECT_THAT(this->SetUpError("type: 'InfogainLoss' infogain_loss_param { "
                               "source: '/no/such/matrix' }"),
              HasSubstr("/no/such/matrix"));
  BlobProto broken;
  broken.mutable_shape()->add_dim(9);
  WriteProtoToBinaryFile(broken, folder / "broken");
  EXPECT_THAT(this->SetUpError("type: 'InfogainLoss' infogain_loss_param { "
                               "source: '" +
                               folder / "broken" + "' }"),
              HasSubstr("matrix file '" + folder / "broken" + "': "));
}

TYPED_TEST(InfogainLossLayerTest, TheIdentityGivesTheSoftmaxLoss) {
  this->FillValues({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, &this->bottom_c_);
  const auto loss = this->Loss("");
  this->bottoms_.pop_back();
  this->Forward("type: 'SoftmaxWithLoss'");
  EXPECT_NEAR(this->top_.cpu_data()[0], loss, 1e-5);
}

TYPED_TEST(InfogainLossLayerTest, ASecondTopGetsTheProbabilities) {
  typedef typename TypeParam::Dtype Dtype;
  this->tops_.push_back(&this->top_b_);
  this->Forward("type: 'InfogainLoss'");
  Blob<Dtype> expected;
  const auto softmax = this->Make("type: 'Softmax'");
  softmax->SetUp({&this->bottom_}, {&expected});
  softmax->Forward({&this->bottom_}, {&expected});
  EXPECT_EQ(expected.shape(), this->top_b_.shape());
  EXPECT_EQ(this->DataOf(expected), this->DataOf(this->top_b_));
}

TYPED_TEST(InfogainLossLayerTest, ProbabilitiesOfZeroCountAsALittle) {
  this->FillValues({1, 3}, {0, 1000, 0}, &this->bottom_);
  this->FillValues({1}, {2}, &this->bottom_b_);
  EXPECT_NEAR(-3 * std::log(1e-20), this->Loss(""), 1e-4);
}

TYPED_TEST(InfogainLossLayerTest, Gradient) {
  for (const char* const settings :
       {"", "loss_weight: 3", "loss_param { ignore_label: 1 }",
        "loss_param { ignore_label: 0 normalization: BATCH_SIZE }"}) {
    this->CheckGradients(string("type: 'InfogainLoss' ") + settings, 1e-2, 1e-2,
                         0);
  }
}

TYPED_TEST(InfogainLossLayerTest, GradientWithClassesOnTheLastAxis) {
  this->bottom_b_.Reshape({4, 3, 2});
  this->CheckGradients("type: 'InfogainLoss' infogain_loss_param { axis: -1 }",
                       1e-2, 1e-2, 0);
}

TYPED_TEST(InfogainLossLayerTest, RefusesWhatDoesNotFit) {
  const auto layer = this->Forward("type: 'InfogainLoss'");
  EXPECT_TRUE(layer->AllowForceBackward(0));
  EXPECT_FALSE(layer->AllowForceBackward(1));
  EXPECT_FALSE(layer->AllowForceBackward(2));
  const auto backward_error = [&](bool labels, bool matrix) {
    return ErrorOf([&] {
      layer->Backward(this->tops_, {true, labels, matrix}, this->bottoms_);
    });
  };
  EXPECT_EQ("labels have no gradients", backward_error(true, false));
  EXPECT_EQ("the matrix has no gradients", backward_error(false, true));
  EXPECT_EQ("takes loss_param.normalization, not the older normalize",
            this->SetUpError("type: 'InfogainLoss' "
                             "loss_param { normalize: true }"));
  this->bottom_b_.mutable_cpu_data()[5] = 3;
  EXPECT_THAT(ErrorOf([&] { this->Loss(""); }),
              HasSubstr("not one of the 3 classes"));
  this->bottom_c_.Reshape({2, 3});
  EXPECT_EQ(
      "its matrix for 3 classes must have 3 x 3 values, not the shape "
      "2 3 (6)",
      this->SetUpError("type: 'InfogainLoss'"));
  this->bottom_b_.Reshape({4, 3, 3});
  EXPECT_THAT(this->SetUpError("type: 'InfogainLoss'"),
              HasSubstr("need 24 labels"));
}

}  // namespace caffe
