#include <numeric>

#include "caffe/filler.hpp"
#include "caffe/layers/deconv_layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/test/test_gradient_check_util.hpp"
#include "convolution_test_util.hpp"
#include "cpu/engine.hpp"

namespace caffe {

namespace {

template <typename Dtype>
class OpenDeconvolution : public DeconvolutionLayer<Dtype> {
 public:
  using DeconvolutionLayer<Dtype>::DeconvolutionLayer;
  using DeconvolutionLayer<Dtype>::BatchShape;
};

}  // namespace

template <typename TypeParam>
class DeconvolutionLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  DeconvolutionLayerTest() {
    Caffe::set_random_seed(1701);
    Fill({2, 4, 3, 2});
  }

  void Fill(const vector<int>& shape) {
    bottom_.Reshape(shape);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&bottom_);
  }

  // A deconvolution multiplies the same pairs as the convolution from its top
  // to its bottom.
  void CheckForward(const string& param, const vector<int>& top_shape) {
    OpenDeconvolution<Dtype> layer(ParseConvolution(param));
    layer.SetUp(bottoms_, tops_);
    ASSERT_EQ(top_shape, top_.shape()) << param;
    const cpu::ConvolutionShape shape = layer.BatchShape();
    vector<double> expected(top_.count());
    const int64_t inner = ProductOf(shape.input);
    for (int i = 0; i < top_.count() && layer.blobs().size() == 2; ++i) {
      expected[i] = layer.blobs()[1]->cpu_data()[i / inner % shape.in_channels];
    }
    ForAllProducts(shape, [&](int64_t in, int64_t out, int64_t weight) {
      expected[in] += double(bottom_.cpu_data()[out]) *
                      layer.blobs()[0]->cpu_data()[weight];
    });
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      layer.Forward(bottoms_, tops_);
      for (int i = 0; i < top_.count(); ++i) {
        ASSERT_NEAR(expected[i], top_.cpu_data()[i],
                    1e-4 * (1 + std::fabs(expected[i])))
            << param << ", value " << i;
      }
    }
  }

  void CheckGradient(const string& param) {
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      DeconvolutionLayer<Dtype> layer(ParseConvolution(param));
      GradientChecker<Dtype>(1e-2, 1e-2)
          .CheckGradientExhaustive(&layer, bottoms_, tops_);
    }
  }

  string ErrorOf(const string& param) {
    return caffe::ErrorOf([&] {
      DeconvolutionLayer<Dtype> layer(ParseConvolution(param));
      layer.SetUp(bottoms_, tops_);
    });
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> top_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_};
};

TYPED_TEST_SUITE(DeconvolutionLayerTest, TestDtypesAndDevices);

TYPED_TEST(DeconvolutionLayerTest, HandWorkedValues) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottom_.Reshape({1, 1, 1, 3});
  std::iota(this->bottom_.mutable_cpu_data(),
            this->bottom_.mutable_cpu_data() + 3, Dtype(1));
  DeconvolutionLayer<Dtype> layer(ParseConvolution(
      "num_output: 1 kernel_h: 1 kernel_w: 3 stride_h: 1 stride_w: 2"));
  layer.SetUp(this->bottoms_, this->tops_);
  const Dtype weights[] = {100, 10, 1};
  std::copy_n(weights, 3, layer.blobs()[0]->mutable_cpu_data());
  layer.blobs()[1]->mutable_cpu_data()[0] = 1000;
  layer.Forward(this->bottoms_, this->tops_);
  ASSERT_EQ((vector<int>{1, 1, 1, 7}), this->top_.shape());
  const Dtype expected[] = {1100, 1010, 1201, 1020, 1302, 1030, 1003};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(expected[i], this->top_.cpu_data()[i]);
  }
}

TYPED_TEST(DeconvolutionLayerTest, ForwardIsTheDefinition) {
  this->CheckForward("num_output: 3 kernel_size: 3 stride: 2", {2, 3, 7, 5});
  this->CheckForward("num_output: 3 kernel_size: 3 stride: 2 bias_term: false",
                     {2, 3, 7, 5});
  this->CheckForward("num_output: 2 kernel_size: 4 stride: 2 pad: 1 group: 2",
                     {2, 2, 6, 4});
  this->CheckForward("num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4",
                     {2, 4, 6, 4});
  this->CheckForward("num_output: 3 kernel_size: 3 dilation: 2", {2, 3, 7, 6});
  this->CheckForward("num_output: 3 kernel_size: 1", {2, 3, 3, 2});
  this->Fill({2, 2, 2, 3, 2});
  this->CheckForward("num_output: 3 kernel_size: 2 stride: 2", {2, 3, 4, 6, 4});
}

TYPED_TEST(DeconvolutionLayerTest, Gradient) {
  this->CheckGradient("num_output: 2 kernel_size: 3 stride: 2 pad: 1");
  this->CheckGradient(
      "num_output: 2 kernel_size: 2 group: 2 "
      "bias_term: false");
  this->Fill({1, 2, 2, 2, 2});
  this->CheckGradient("num_output: 1 kernel_size: 2 stride: 2");
}

TYPED_TEST(DeconvolutionLayerTest, BackwardAddsToParametersAndSetsBottoms) {
  typedef typename TypeParam::Dtype Dtype;
  DeconvolutionLayer<Dtype> layer(
      ParseConvolution("num_output: 3 kernel_size: 3"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  caffe_copy(this->top_.count(), this->top_.cpu_data(),
             this->top_.mutable_cpu_diff());
  layer.Backward(this->tops_, {true}, this->bottoms_);
  Blob<Dtype> weights;
  Blob<Dtype> bottom;
  weights.CopyFrom(*layer.blobs()[0], true, true);
  bottom.CopyFrom(this->bottom_, true, true);
  layer.Backward(this->tops_, {true}, this->bottoms_);
  for (int i = 0; i < weights.count(); ++i) {
    EXPECT_NEAR(2 * weights.cpu_diff()[i], layer.blobs()[0]->cpu_diff()[i],
                1e-3);
  }
  for (int i = 0; i < bottom.count(); ++i) {
    EXPECT_NEAR(bottom.cpu_diff()[i], this->bottom_.cpu_diff()[i], 1e-3);
  }
  caffe_set(weights.count(), Dtype(0), layer.blobs()[0]->mutable_cpu_diff());
  layer.set_param_propagate_down(0, false);
  layer.Backward(this->tops_, {false}, this->bottoms_);
  EXPECT_EQ(0, layer.blobs()[0]->asum_diff());
}

TYPED_TEST(DeconvolutionLayerTest, RefusesSettingsThatDoNotFit) {
  EXPECT_EQ("spatial axis 0 of the top would have the extent 0",
            this->ErrorOf("num_output: 2 kernel_size: 2 pad: 2"));
  EXPECT_EQ("group 3 does not divide the 4 channels of its bottom",
            this->ErrorOf("num_output: 3 kernel_size: 2 group: 3"));
  EXPECT_EQ("spatial axis 0 of the top would have the extent 4294967297",
            this->ErrorOf("num_output: 3 kernel_size: 3 stride: 2147483647"));
  this->Fill({2, 4, 0, 2});
  EXPECT_EQ("spatial axis 0 of the top would have the extent 0",
            this->ErrorOf("num_output: 3 kernel_size: 3 stride: 3"));
}

}  // namespace caffe
