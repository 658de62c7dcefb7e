#include "caffe/layers/batch_norm_layer.hpp"

#include <array>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class BatchNormLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Normal values with another mean and deviation in every channel.
  void FillChannels(const vector<int>& shape) {
    this->FillNormal(shape, &this->bottom_);
    const int inner = this->bottom_.count(2);
    for (int i = 0; i < this->bottom_.count(); ++i) {
      const int c = i / inner % shape[1];
      Dtype& value = this->bottom_.mutable_cpu_data()[i];
      value = (1 + c % 3) * value + c % 10;
    }
  }

  // The mean and variance of a channel, in double.
  static pair<double, double> Moments(const Blob<Dtype>& blob, int channel) {
    const int inner = blob.count(2);
    const double values = double(blob.shape(0)) * inner;
    const auto sum = [&](const auto& term) {
      double total = 0;
      for (int n = 0; n < blob.shape(0); ++n) {
        for (int i = 0; i < inner; ++i) {
          total += term(double(
              blob.cpu_data()[(n * blob.shape(1) + channel) * inner + i]));
        }
      }
      return total;
    };
    const double mean = sum([](double x) { return x; }) / values;
    const double square =
        sum([&](double x) { return (x - mean) * (x - mean); }) / values;
    return {mean, square};
  }
};

TYPED_TEST_SUITE(BatchNormLayerTest, TestDtypesAndDevices);

TYPED_TEST(BatchNormLayerTest, ChannelsGetMeanZeroAndVarianceOne) {
  for (const vector<int>& shape :
       {vector<int>{5, 2, 3, 4}, {7, 3}, {2, 5, 70}, {3, 2, 1, 2, 2}}) {
    this->FillChannels(shape);
    this->Forward("type: 'BatchNorm'");
    EXPECT_EQ(shape, this->top_.shape());
    for (int c = 0; c < shape[1]; ++c) {
      const auto [mean, variance] = this->Moments(this->top_, c);
      EXPECT_NEAR(0, mean, 1e-6);
      EXPECT_NEAR(1, variance, 1e-3);
    }
  }
}

TYPED_TEST(BatchNormLayerTest, HandWorkedValues) {
  // Mean 2 and 10, variance 5 and 0.
  this->FillValues({2, 2, 2}, {-1, 1, 10, 10, 3, 5, 10, 10}, &this->bottom_);
  const auto layer = this->Forward(
      "type: 'BatchNorm' batch_norm_param { eps: 4 "
      "moving_average_fraction: 0.5 }");
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear({-1, -1. / 3, 0, 0, 1. / 3, 1, 0, 0}));
  // Variance is corrected to that of the source: 5 * 4 / 3.
  const auto& params = layer->blobs();
  ASSERT_EQ(3u, params.size());
  EXPECT_THAT(params[0]->shape(), ElementsAre(2));
  EXPECT_THAT(params[1]->shape(), ElementsAre(2));
  EXPECT_THAT(params[2]->shape(), ElementsAre(1));
  EXPECT_THAT(this->DataOf(*params[0]), ElementsAre(2, 10));
  EXPECT_NEAR(20. / 3, params[1]->cpu_data()[0], 1e-5);
  EXPECT_EQ(0, params[1]->cpu_data()[1]);
  EXPECT_EQ(1, params[2]->cpu_data()[0]);
  // What was there before counts half.
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->DataOf(*params[0]), ElementsAre(3, 15));
  EXPECT_NEAR(10, params[1]->cpu_data()[0], 1e-5);
  EXPECT_EQ(1.5, params[2]->cpu_data()[0]);
}

TYPED_TEST(BatchNormLayerTest, ASingleValueStaysFinite) {
  this->FillValues({1, 1}, {3}, &this->bottom_);
  const auto layer = this->Forward("type: 'BatchNorm'");
  EXPECT_EQ(0, this->top_.cpu_data()[0]);
  EXPECT_EQ(0, layer->blobs()[1]->cpu_data()[0]);
}

TYPED_TEST(BatchNormLayerTest, ABlobOfOneAxisIsOneChannel) {
  this->FillValues({4}, {1, 3, 1, 3}, &this->bottom_);
  this->Forward("type: 'BatchNorm' batch_norm_param { eps: 0 }");
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(-1, 1, -1, 1));
}

TYPED_TEST(BatchNormLayerTest, LargeMeansDoNotHideTheVariance) {
  this->FillNormal({4, 2, 50, 50}, &this->bottom_);
  for (int i = 0; i < this->bottom_.count(); ++i) {
    this->bottom_.mutable_cpu_data()[i] += 2000;
  }
  this->Forward("type: 'BatchNorm' batch_norm_param { eps: 0 }");
  for (int c = 0; c < 2; ++c) {
    EXPECT_NEAR(1, this->Moments(this->top_, c).second, 1e-3);
  }
}

TYPED_TEST(BatchNormLayerTest, TestPhaseUsesTheAverages) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillValues({1, 2, 2}, {1, 2, 3, 4}, &this->bottom_);
  const auto layer = this->SetUp(
      "type: 'BatchNorm' phase: TEST "
      "batch_norm_param { eps: 1 }");
  const auto& params = layer->blobs();
  // Nothing seen yet: mean and variance are 0.
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 3, 4));
  // Mean 1 and 2, variance 3 and 8, all with weight 2.
  std::copy_n(std::array<Dtype, 2>{2, 4}.data(), 2,
              params[0]->mutable_cpu_data());
  std::copy_n(std::array<Dtype, 2>{6, 16}.data(), 2,
              params[1]->mutable_cpu_data());
  params[2]->mutable_cpu_data()[0] = 2;
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->DataOf(this->top_), this->IsNear({0, 0.5, 1. / 3, 2. / 3}));
  EXPECT_EQ(2, params[2]->cpu_data()[0]);
  // The gradient does not go through the averages.
  caffe_set(4, Dtype(6), this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(3, 3, 2, 2));
}

TYPED_TEST(BatchNormLayerTest, UseGlobalStatsGoesBeforeThePhase) {
  this->FillChannels({5, 2, 3, 4});
  this->Forward(
      "type: 'BatchNorm' phase: TEST "
      "batch_norm_param { use_global_stats: false }");
  EXPECT_NEAR(1, this->Moments(this->top_, 1).second, 1e-3);
  const auto layer = this->Forward(
      "type: 'BatchNorm' batch_norm_param { use_global_stats: true eps: 1 }");
  EXPECT_EQ(this->DataOf(this->bottom_), this->DataOf(this->top_));
  EXPECT_EQ(0, layer->blobs()[2]->cpu_data()[0]);
}

TYPED_TEST(BatchNormLayerTest, InPlace) {
  this->FillChannels({5, 2, 3, 4});
  this->ExpectSameInPlace("type: 'BatchNorm'");
  this->ExpectSameInPlace(
      "type: 'BatchNorm' batch_norm_param { use_global_stats: true }");
}

TYPED_TEST(BatchNormLayerTest, Gradient) {
  this->FillChannels({3, 2, 2, 3});
  this->CheckGradients("type: 'BatchNorm'", 1e-2, 5e-3);
  this->CheckGradients("type: 'BatchNorm' phase: TEST", 1e-2, 5e-3);
  this->FillChannels({5, 3});
  this->CheckGradients("type: 'BatchNorm'", 1e-2, 5e-3);
}

TYPED_TEST(BatchNormLayerTest, FastKernelsAgreeWithTheReference) {
  typedef typename TypeParam::Dtype Dtype;
  for (const vector<int>& shape : {vector<int>{1, 1},
                                   {1, 7},
                                   {64, 300},
                                   {3, 130, 7, 7},
                                   {2, 5, 33, 65},
                                   {4, 6, 224, 224},
                                   {300, 2, 1},
                                   {2, 3, 2}}) {
    for (const bool in_place : {false, true}) {
      vector<vector<Dtype>> results[2];
      for (const auto kernels :
           {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
        const cpu::ScopedKernels scope(kernels);
        Caffe::set_random_seed(7);
        this->FillChannels(shape);
        this->tops_[0] = in_place ? &this->bottom_ : &this->top_;
        const auto layer = this->Forward("type: 'BatchNorm'");
        const vector<Dtype> data = this->DataOf(*this->tops_[0]);
        for (int i = 0; i < this->bottom_.count(); ++i) {
          this->tops_[0]->mutable_cpu_diff()[i] = Dtype(i * 7 % 101) / 101;
        }
        this->Backward(layer.get());
        results[static_cast<int>(kernels)] = {data, this->DiffOf(this->bottom_),
                                              this->DataOf(*layer->blobs()[0]),
                                              this->DataOf(*layer->blobs()[1])};
      }
      for (size_t i = 0; i < results[0].size(); ++i) {
        double largest = 0;
        for (size_t k = 0; k < results[0][i].size(); ++k) {
          largest = std::max<double>(
              largest, std::abs(results[0][i][k] - results[1][i][k]));
        }
        EXPECT_LT(largest, 2e-5)
            << "result " << i << " of " << this->bottom_.shape_string();
      }
    }
  }
}

TYPED_TEST(BatchNormLayerTest, SolversMustLeaveTheStatisticsAlone) {
  this->FillChannels({5, 2, 3, 4});
  const auto layer = this->SetUp("type: 'BatchNorm'");
  ASSERT_EQ(3, layer->layer_param().param_size());
  for (const ParamSpec& param : layer->layer_param().param()) {
    EXPECT_EQ(0, param.lr_mult());
  }
  EXPECT_EQ("", this->SetUp("type: 'BatchNorm' param { lr_mult: 0 }")
                    ->layer_param()
                    .param(2)
                    .name());
  EXPECT_THAT(this->SetUpError("type: 'BatchNorm' param { lr_mult: 0 } "
                               "param { lr_mult: 2 }"),
              HasSubstr("lr_mult must be 0, not 2"));
}

TYPED_TEST(BatchNormLayerTest, Refuses) {
  this->FillChannels({5, 2, 3, 4});
  EXPECT_THAT(
      this->SetUpError(
          "type: 'BatchNorm' blobs { shape { dim: 2 } data: 1 data: 1 }"),
      HasSubstr("takes 3 parameter blobs"));
  EXPECT_THAT(
      this->SetUpError("type: 'BatchNorm' blobs { shape { dim: 1 } data: 1 } "
                       "blobs { shape { dim: 2 } data: 1 data: 1 } "
                       "blobs { shape { dim: 1 } data: 1 }"),
      HasSubstr("parameter 0 has the shape 1 (1)"));
  const auto layer = this->SetUp("type: 'BatchNorm'");
  this->bottom_.Reshape({5, 3, 3, 4});
  EXPECT_THAT(ErrorOf([&] { layer->Reshape(this->bottoms_, this->tops_); }),
              HasSubstr("made for 2 channels"));
  this->bottom_.Reshape(vector<int>{0, 2});
  EXPECT_THAT(this->SetUpError("type: 'BatchNorm'"), HasSubstr("empty batch"));
  this->bottom_.Reshape(vector<int>());
  EXPECT_THAT(this->SetUpError("type: 'BatchNorm'"),
              HasSubstr("single number"));
}

}  // namespace caffe
