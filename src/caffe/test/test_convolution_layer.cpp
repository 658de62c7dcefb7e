#include <numeric>

#include "caffe/filler.hpp"
#include "caffe/layers/conv_layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/test/test_gradient_check_util.hpp"
#include "convolution_test_util.hpp"
#include "cpu/engine.hpp"

namespace caffe {

namespace {

// Lets a test see the shape a layer works with.
template <typename Dtype>
class OpenConvolution : public ConvolutionLayer<Dtype> {
 public:
  using ConvolutionLayer<Dtype>::ConvolutionLayer;
  using ConvolutionLayer<Dtype>::BatchShape;
  using ConvolutionLayer<Dtype>::forward_cpu_gemm;
  using ConvolutionLayer<Dtype>::forward_cpu_bias;
  using ConvolutionLayer<Dtype>::backward_cpu_gemm;
  using ConvolutionLayer<Dtype>::backward_cpu_bias;
  using ConvolutionLayer<Dtype>::weight_cpu_gemm;
  using ConvolutionLayer<Dtype>::bottom_dim_;
  using ConvolutionLayer<Dtype>::top_dim_;
  using ConvolutionLayer<Dtype>::num_;
};

}  // namespace

template <typename TypeParam>
class ConvolutionLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  ConvolutionLayerTest() {
    Caffe::set_random_seed(1701);
    Fill({2, 3, 6, 4}, &bottom_);
    Fill({2, 3, 6, 4}, &second_bottom_);
  }

  static void Fill(const vector<int>& shape, Blob<Dtype>* blob) {
    blob->Reshape(shape);
    GaussianFiller<Dtype>(FillerParameter()).Fill(blob);
  }

  void UseTwo() {
    bottoms_.push_back(&second_bottom_);
    tops_.push_back(&second_top_);
  }

  // What the layer should have made of a bottom.
  static vector<double> Expected(OpenConvolution<Dtype>* layer,
                                 const Blob<Dtype>& bottom, int out_count) {
    const cpu::ConvolutionShape shape = layer->BatchShape();
    vector<double> expected(out_count);
    const int64_t inner = ProductOf(shape.output);
    for (int i = 0; i < out_count && layer->blobs().size() == 2; ++i) {
      const int64_t channel = i / inner % shape.out_channels;
      expected[i] = layer->blobs()[1]->cpu_data()[channel];
    }
    const Dtype* const weights = layer->blobs()[0]->cpu_data();
    ForAllProducts(shape, [&](int64_t in, int64_t out, int64_t weight) {
      expected[out] += double(bottom.cpu_data()[in]) * weights[weight];
    });
    return expected;
  }

  // Sets up, runs and checks a layer with both kinds of kernels.
  void CheckForward(const string& param, const vector<int>& top_shape) {
    OpenConvolution<Dtype> layer(ParseConvolution(param));
    layer.SetUp(bottoms_, tops_);
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      layer.Forward(bottoms_, tops_);
      for (size_t i = 0; i < tops_.size(); ++i) {
        ASSERT_EQ(top_shape, tops_[i]->shape()) << param;
        const vector<double> expected =
            Expected(&layer, *bottoms_[i], tops_[i]->count());
        for (int j = 0; j < tops_[i]->count(); ++j) {
          ASSERT_NEAR(expected[j], tops_[i]->cpu_data()[j],
                      1e-4 * (1 + std::fabs(expected[j])))
              << param << ", top " << i << ", value " << j;
        }
      }
    }
  }

  void CheckGradient(const string& param) {
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      ConvolutionLayer<Dtype> layer(ParseConvolution(param));
      GradientChecker<Dtype>(1e-2, 1e-2)
          .CheckGradientExhaustive(&layer, bottoms_, tops_);
    }
  }

  string ErrorOf(const string& param) {
    return caffe::ErrorOf([&] {
      ConvolutionLayer<Dtype> layer(ParseConvolution(param));
      layer.SetUp(bottoms_, tops_);
    });
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> second_bottom_;
  Blob<Dtype> top_;
  Blob<Dtype> second_top_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_};
};

TYPED_TEST_SUITE(ConvolutionLayerTest, TestDtypesAndDevices);

TYPED_TEST(ConvolutionLayerTest, HandWorkedValues) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.Reshape({1, 1, 2, 3});
  std::iota(this->bottom_.mutable_cpu_data(),
            this->bottom_.mutable_cpu_data() + 6, Dtype(1));
  ConvolutionLayer<Dtype> layer(ParseConvolution(
      "num_output: 1 kernel_h: 1 kernel_w: 2 pad_w: 1 stride_h: 1 "
      "stride_w: 2"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.blobs()[0]->mutable_cpu_data()[0] = 10;
  layer.blobs()[0]->mutable_cpu_data()[1] = 1;
  layer.blobs()[1]->mutable_cpu_data()[0] = 100;
  layer.Forward(this->bottoms_, this->tops_);
  ASSERT_EQ((vector<int>{1, 1, 2, 2}), this->top_.shape());
  // 0 1 | 2 3 and 0 4 | 5 6.
  const Dtype expected[] = {101, 123, 104, 156};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(expected[i], this->top_.cpu_data()[i]);
  }
}

TYPED_TEST(ConvolutionLayerTest, ForwardIsTheDefinition) {
  this->CheckForward("num_output: 4 kernel_size: 3 stride: 2", {2, 4, 2, 1});
  this->CheckForward("num_output: 4 kernel_size: 3 bias_term: false",
                     {2, 4, 4, 2});
  this->CheckForward("num_output: 3 kernel_size: 3 pad: 1 group: 3",
                     {2, 3, 6, 4});
  this->CheckForward(
      "num_output: 6 kernel_size: 3 kernel_size: 2 group: 3 "
      "pad: 2 pad: 1 stride: 1 stride: 3",
      {2, 6, 8, 2});
  this->CheckForward("num_output: 2 kernel_size: 3 pad: 2 dilation: 2",
                     {2, 2, 6, 4});
  this->CheckForward("num_output: 5 kernel_size: 1", {2, 5, 6, 4});
  this->CheckForward("num_output: 5 kernel_size: 1 stride: 2", {2, 5, 3, 2});
  this->CheckForward("num_output: 5 kernel_size: 3 force_nd_im2col: true",
                     {2, 5, 4, 2});
  this->CheckForward("num_output: 4 kernel_size: 3 engine: CAFFE",
                     {2, 4, 4, 2});
}

TYPED_TEST(ConvolutionLayerTest, AnyNumberOfSpatialAxes) {
  this->Fill({2, 4}, &this->bottom_);
  this->CheckForward("num_output: 3", {2, 3});
  this->Fill({2, 4, 9}, &this->bottom_);
  this->CheckForward("num_output: 2 kernel_size: 3 stride: 2 pad: 1 group: 2",
                     {2, 2, 5});
  this->Fill({2, 2, 5, 4, 6}, &this->bottom_);
  this->CheckForward("num_output: 3 kernel_size: 3 pad: 1 stride: 2",
                     {2, 3, 3, 2, 3});
  this->Fill({1, 2, 3, 4, 3, 4}, &this->bottom_);
  this->CheckForward("num_output: 2 kernel_size: 2 dilation: 2 pad: 1",
                     {1, 2, 3, 4, 3, 4});
}

TYPED_TEST(ConvolutionLayerTest, AxisSaysWhereChannelsAre) {
  this->Fill({2, 3, 2, 5, 5}, &this->bottom_);
  this->CheckForward("num_output: 4 kernel_size: 3 axis: 2", {2, 3, 4, 3, 3});
  this->CheckForward("num_output: 4 kernel_size: 3 axis: -3", {2, 3, 4, 3, 3});
}

TYPED_TEST(ConvolutionLayerTest, SeveralBottomsHaveTheSameParameters) {
  this->UseTwo();
  this->CheckForward("num_output: 4 kernel_size: 3", {2, 4, 4, 2});
}

TYPED_TEST(ConvolutionLayerTest, EmptyBatchesAreFine) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.Reshape({0, 3, 6, 4});
  ConvolutionLayer<Dtype> layer(
      ParseConvolution("num_output: 4 kernel_size: 3"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  layer.Backward(this->tops_, {true}, this->bottoms_);
  EXPECT_EQ((vector<int>{0, 4, 4, 2}), this->top_.shape());
  EXPECT_EQ(0, layer.blobs()[0]->asum_diff());
  EXPECT_EQ(0, layer.blobs()[1]->asum_diff());
}

TYPED_TEST(ConvolutionLayerTest, FollowsNewShapes) {
  typedef typename TypeParam::Dtype Dtype;
  OpenConvolution<Dtype> layer(
      ParseConvolution("num_output: 2 kernel_size: 3 pad: 1"));
  layer.SetUp(this->bottoms_, this->tops_);
  for (const vector<int>& shape :
       {vector<int>{2, 3, 6, 4}, {1, 3, 9, 8}, {3, 3, 2, 2}}) {
    this->Fill(shape, &this->bottom_);
    layer.Forward(this->bottoms_, this->tops_);
    const vector<double> expected =
        this->Expected(&layer, this->bottom_, this->top_.count());
    for (int i = 0; i < this->top_.count(); ++i) {
      ASSERT_NEAR(expected[i], this->top_.cpu_data()[i], 1e-4);
    }
  }
  this->bottom_.Reshape({2, 4, 6, 4});
  EXPECT_THROW(layer.Forward(this->bottoms_, this->tops_), Error);
  this->bottom_.Reshape({2, 3, 6, 4, 1});
  EXPECT_THROW(layer.Forward(this->bottoms_, this->tops_), Error);
}

TYPED_TEST(ConvolutionLayerTest, BackwardAddsToParametersAndSetsBottoms) {
  typedef typename TypeParam::Dtype Dtype;
  for (const auto choice : {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(choice);
    ConvolutionLayer<Dtype> layer(
        ParseConvolution("num_output: 4 kernel_size: 3"));
    layer.SetUp(this->bottoms_, this->tops_);
    layer.Forward(this->bottoms_, this->tops_);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&this->top_);
    caffe_copy(this->top_.count(), this->top_.cpu_data(),
               this->top_.mutable_cpu_diff());
    for (const auto& blob : layer.blobs()) {
      caffe_set(blob->count(), Dtype(0), blob->mutable_cpu_diff());
    }
    layer.Backward(this->tops_, {true}, this->bottoms_);
    Blob<Dtype> once[3];
    once[0].CopyFrom(*layer.blobs()[0], true, true);
    once[1].CopyFrom(*layer.blobs()[1], true, true);
    once[2].CopyFrom(this->bottom_, true, true);
    layer.Backward(this->tops_, {true}, this->bottoms_);
    for (int b = 0; b < 3; ++b) {
      const Blob<Dtype>& now = b < 2 ? *layer.blobs()[b] : this->bottom_;
      for (int i = 0; i < now.count(); ++i) {
        EXPECT_NEAR((b < 2 ? 2 : 1) * once[b].cpu_diff()[i], now.cpu_diff()[i],
                    1e-4 * (1 + std::fabs(now.cpu_diff()[i])));
      }
    }
  }
}

TYPED_TEST(ConvolutionLayerTest, LeavesUnwantedGradientsAlone) {
  typedef typename TypeParam::Dtype Dtype;
  ConvolutionLayer<Dtype> layer(
      ParseConvolution("num_output: 4 kernel_size: 3"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  caffe_set(this->top_.count(), Dtype(1), this->top_.mutable_cpu_diff());
  caffe_set(this->bottom_.count(), Dtype(7), this->bottom_.mutable_cpu_diff());
  layer.set_param_propagate_down(0, false);
  layer.Backward(this->tops_, {false}, this->bottoms_);
  EXPECT_EQ(0, layer.blobs()[0]->asum_diff());
  EXPECT_EQ(7 * this->bottom_.count(), this->bottom_.asum_diff());
  // Two images with 4 x 2 positions each.
  EXPECT_EQ(16, layer.blobs()[1]->cpu_diff()[3]);
  layer.set_param_propagate_down(0, true);
  layer.set_param_propagate_down(1, false);
  layer.Backward(this->tops_, {true}, this->bottoms_);
  EXPECT_LT(0, layer.blobs()[0]->asum_diff());
  EXPECT_EQ(16, layer.blobs()[1]->cpu_diff()[3]);
  EXPECT_NE(7 * this->bottom_.count(), this->bottom_.asum_diff());
}

TYPED_TEST(ConvolutionLayerTest, DerivedLayersCanGoImageByImage) {
  typedef typename TypeParam::Dtype Dtype;
  OpenConvolution<Dtype> layer(
      ParseConvolution("num_output: 6 kernel_size: 3 group: 3"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  caffe_copy(this->top_.count(), this->top_.cpu_data(),
             this->top_.mutable_cpu_diff());
  layer.Backward(this->tops_, {true}, this->bottoms_);

  Blob<Dtype> top(this->top_.shape());
  Blob<Dtype> bottom(this->bottom_.shape());
  Blob<Dtype> weights(layer.blobs()[0]->shape());
  Blob<Dtype> bias(layer.blobs()[1]->shape());
  for (int n = 0; n < layer.num_; ++n) {
    const Dtype* const image = this->bottom_.cpu_data() + n * layer.bottom_dim_;
    const Dtype* const diff = this->top_.cpu_diff() + n * layer.top_dim_;
    Dtype* const out = top.mutable_cpu_data() + n * layer.top_dim_;
    layer.forward_cpu_gemm(image, layer.blobs()[0]->cpu_data(), out);
    layer.forward_cpu_bias(out, layer.blobs()[1]->cpu_data());
    layer.weight_cpu_gemm(image, diff, weights.mutable_cpu_diff());
    layer.backward_cpu_bias(bias.mutable_cpu_diff(), diff);
    layer.backward_cpu_gemm(diff, layer.blobs()[0]->cpu_data(),
                            bottom.mutable_cpu_diff() + n * layer.bottom_dim_);
  }
  const auto near = [](int count, const Dtype* a, const Dtype* b) {
    for (int i = 0; i < count; ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
  };
  near(top.count(), this->top_.cpu_data(), top.cpu_data());
  near(bottom.count(), this->bottom_.cpu_diff(), bottom.cpu_diff());
  near(weights.count(), layer.blobs()[0]->cpu_diff(), weights.cpu_diff());
  near(bias.count(), layer.blobs()[1]->cpu_diff(), bias.cpu_diff());
}

TYPED_TEST(ConvolutionLayerTest, Gradient) {
  this->Fill({2, 3, 4, 3}, &this->bottom_);
  this->Fill({2, 3, 4, 3}, &this->second_bottom_);
  this->UseTwo();
  this->CheckGradient("num_output: 2 kernel_size: 3 stride: 2");
  this->bottoms_.pop_back();
  this->tops_.pop_back();
  this->CheckGradient("num_output: 3 kernel_size: 3 pad: 1 group: 3");
  this->CheckGradient("num_output: 2 kernel_size: 1 bias_term: false");
  this->CheckGradient("num_output: 2 kernel_size: 2 pad: 2 dilation: 3");
}

TYPED_TEST(ConvolutionLayerTest, GradientWithOtherNumbersOfAxes) {
  this->Fill({2, 3}, &this->bottom_);
  this->CheckGradient("num_output: 2");
  this->Fill({2, 2, 7}, &this->bottom_);
  this->CheckGradient("num_output: 2 kernel_size: 3 pad: 1 stride: 2");
  this->Fill({1, 2, 3, 3, 4}, &this->bottom_);
  this->CheckGradient("num_output: 2 kernel_size: 2 pad: 1 stride: 2");
}

TYPED_TEST(ConvolutionLayerTest, RefusesSettingsThatDoNotFit) {
  EXPECT_EQ("kernel_size must be given", this->ErrorOf("num_output: 4"));
  EXPECT_EQ("num_output must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_size: 3"));
  EXPECT_EQ("num_output must be from 1 to 2147483647, not 4294967295",
            this->ErrorOf("kernel_size: 3 num_output: 4294967295"));
  EXPECT_EQ("kernel_size must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_size: 0 num_output: 4"));
  EXPECT_EQ("kernel_size must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_h: 3 num_output: 4"));
  EXPECT_EQ("stride must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_size: 3 stride: 0 num_output: 4"));
  EXPECT_EQ("dilation must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_size: 3 dilation: 0 num_output: 4"));
  EXPECT_EQ("pad must be from 0 to 2147483647, not 2147483648",
            this->ErrorOf("kernel_size: 3 pad: 2147483648 num_output: 4"));
  EXPECT_EQ(
      "stride must be given once, or once for each of the 2 spatial axes, not "
      "3 times",
      this->ErrorOf("kernel_size: 3 stride: 1 stride: 1 stride: 1 "
                    "num_output: 4"));
  EXPECT_EQ(
      "kernel_size must be given by its own name or by _h and _w, not by both",
      this->ErrorOf("kernel_size: 3 kernel_h: 3 kernel_w: 3 num_output: 4"));
  EXPECT_EQ("group 2 does not divide the 3 channels of its bottom",
            this->ErrorOf("kernel_size: 3 num_output: 4 group: 2"));
  EXPECT_EQ("group 3 does not divide num_output 4",
            this->ErrorOf("kernel_size: 3 num_output: 4 group: 3"));
  EXPECT_EQ("group must be from 1 to 2147483647, not 0",
            this->ErrorOf("kernel_size: 3 num_output: 4 group: 0"));
  EXPECT_EQ(
      "a kernel that covers 5 values of spatial axis 1 does not fit into 4, "
      "padding included",
      this->ErrorOf("kernel_size: 5 num_output: 4"));
  this->bottom_.Reshape({2, 3, 6});
  EXPECT_EQ("stride by _h and _w needs 2 spatial axes, not 1",
            this->ErrorOf("kernel_size: 3 num_output: 4 stride_h: 1 "
                          "stride_w: 1"));
}

TYPED_TEST(ConvolutionLayerTest, RefusesSizesNobodyCanCount) {
  for (const char* param :
       {"num_output: 2147483647 kernel_size: 3",
        "num_output: 4 kernel_size: 2147483647 pad: 2147483647",
        "num_output: 4 kernel_size: 4 dilation: 2147483647 pad: 2147483647",
        "num_output: 4 kernel_size: 3 pad: 2147483647"}) {
    EXPECT_NE("", this->ErrorOf(param)) << param;
  }
}

TYPED_TEST(ConvolutionLayerTest, RefusesBottomsThatDiffer) {
  this->UseTwo();
  this->second_bottom_.Reshape({2, 3, 6, 5});
  EXPECT_EQ("takes bottoms of one shape, not 2 3 6 4 (144) and 2 3 6 5 (180)",
            this->ErrorOf("num_output: 4 kernel_size: 3"));
}

TYPED_TEST(ConvolutionLayerTest, ChecksParametersThatComeWithIt) {
  typedef typename TypeParam::Dtype Dtype;
  LayerParameter param = ParseConvolution("num_output: 4 kernel_size: 3");
  Blob<Dtype>(4, 3, 3, 3).ToProto(param.add_blobs());
  const auto set_up = [&] {
    ConvolutionLayer<Dtype>(param).SetUp(this->bottoms_, this->tops_);
  };
  EXPECT_EQ("takes 2 parameter blob(s), not 1", ErrorOf(set_up));
  Blob<Dtype>(vector<int>{4}).ToProto(param.add_blobs());
  EXPECT_NO_THROW(set_up());
  Blob<Dtype>(vector<int>{3}).ToProto(param.mutable_blobs(1));
  EXPECT_EQ("bias must have the shape 4 (4), not 3 (3)", ErrorOf(set_up));
  Blob<Dtype>(4, 3, 3, 2).ToProto(param.mutable_blobs(0));
  EXPECT_EQ("weights must have the shape 4 3 3 3 (108), not 4 3 3 2 (72)",
            ErrorOf(set_up));
}

}  // namespace caffe
