#include <google/protobuf/text_format.h>

#include "caffe/filler.hpp"
#include "caffe/layers/inner_product_layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/test/test_gradient_check_util.hpp"
#include "cpu/engine.hpp"

namespace caffe {

namespace {

LayerParameter Parse(const string& inner_product_param) {
  LayerParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "inner_product_param { weight_filler { type: 'uniform' min: -1 } "
      "bias_filler { type: 'uniform' min: -1 } " +
          inner_product_param + "}",
      &param));
  return param;
}

}  // namespace

template <typename TypeParam>
class InnerProductLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  InnerProductLayerTest() {
    Caffe::set_random_seed(1701);
    Fill({2, 3, 4, 5});
  }

  void Fill(const vector<int>& shape) {
    bottom_.Reshape(shape);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&bottom_);
  }

  // Every output by its definition.
  void CheckForward(const string& text, const vector<int>& top_shape) {
    const LayerParameter param = Parse(text);
    InnerProductLayer<Dtype> layer(param);
    layer.SetUp(bottoms_, tops_);
    ASSERT_EQ(top_shape, top_.shape()) << text;
    const int outputs = top_shape.back();
    const int inputs = layer.blobs()[0]->count() / outputs;
    const bool transposed = param.inner_product_param().transpose();
    EXPECT_EQ((transposed ? vector<int>{inputs, outputs}
                          : vector<int>{outputs, inputs}),
              layer.blobs()[0]->shape());
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      layer.Forward(bottoms_, tops_);
      for (int i = 0; i < top_.count(); ++i) {
        const int row = i / outputs;
        const int output = i % outputs;
        double sum =
            layer.blobs().size() > 1 ? layer.blobs()[1]->cpu_data()[output] : 0;
        for (int j = 0; j < inputs; ++j) {
          const int at =
              transposed ? j * outputs + output : output * inputs + j;
          sum += double(bottom_.cpu_data()[row * inputs + j]) *
                 layer.blobs()[0]->cpu_data()[at];
        }
        ASSERT_NEAR(sum, top_.cpu_data()[i], 1e-4) << text << ", value " << i;
      }
    }
  }

  string ErrorOf(const string& param) {
    return caffe::ErrorOf([&] {
      InnerProductLayer<Dtype> layer(Parse(param));
      layer.SetUp(bottoms_, tops_);
    });
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> top_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_};
};

TYPED_TEST_SUITE(InnerProductLayerTest, TestDtypesAndDevices);

TYPED_TEST(InnerProductLayerTest, ForwardIsTheDefinition) {
  this->CheckForward("num_output: 10", {2, 10});
  this->CheckForward("num_output: 10 transpose: true", {2, 10});
  this->CheckForward("num_output: 7 bias_term: false", {2, 7});
  this->CheckForward("num_output: 6 axis: 2", {2, 3, 6});
  this->CheckForward("num_output: 6 axis: -1 transpose: true", {2, 3, 4, 6});
  this->CheckForward("num_output: 1", {2, 1});
  this->Fill({1, 33});
  this->CheckForward("num_output: 65", {1, 65});
  this->CheckForward("num_output: 65 transpose: true", {1, 65});
}

TYPED_TEST(InnerProductLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  for (const auto choice : {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(choice);
    for (const char* param :
         {"num_output: 4", "num_output: 4 transpose: true",
          "num_output: 3 bias_term: false", "num_output: 3 axis: 2"}) {
      InnerProductLayer<Dtype> layer(Parse(param));
      GradientChecker<Dtype>(1e-2, 1e-2)
          .CheckGradientExhaustive(&layer, this->bottoms_, this->tops_);
    }
  }
}

TYPED_TEST(InnerProductLayerTest, BackwardAddsToParametersAndSetsBottoms) {
  typedef typename TypeParam::Dtype Dtype;
  InnerProductLayer<Dtype> layer(Parse("num_output: 4"));
  layer.SetUp(this->bottoms_, this->tops_);
  layer.Forward(this->bottoms_, this->tops_);
  caffe_set(this->top_.count(), Dtype(1), this->top_.mutable_cpu_diff());
  layer.Backward(this->tops_, {true}, this->bottoms_);
  Blob<Dtype> weights;
  Blob<Dtype> bottom;
  weights.CopyFrom(*layer.blobs()[0], true, true);
  bottom.CopyFrom(this->bottom_, true, true);
  layer.Backward(this->tops_, {true}, this->bottoms_);
  for (int i = 0; i < weights.count(); ++i) {
    EXPECT_NEAR(2 * weights.cpu_diff()[i], layer.blobs()[0]->cpu_diff()[i],
                1e-4);
  }
  EXPECT_EQ(4, layer.blobs()[1]->cpu_diff()[0]);
  for (int i = 0; i < bottom.count(); ++i) {
    EXPECT_NEAR(bottom.cpu_diff()[i], this->bottom_.cpu_diff()[i], 1e-4);
  }
  layer.set_param_propagate_down(0, false);
  layer.set_param_propagate_down(1, false);
  caffe_set(weights.count(), Dtype(0), layer.blobs()[0]->mutable_cpu_diff());
  layer.Backward(this->tops_, {false}, this->bottoms_);
  EXPECT_EQ(0, layer.blobs()[0]->asum_diff());
  EXPECT_EQ(4, layer.blobs()[1]->cpu_diff()[0]);
}

TYPED_TEST(InnerProductLayerTest, FollowsTheBatch) {
  typedef typename TypeParam::Dtype Dtype;
  InnerProductLayer<Dtype> layer(Parse("num_output: 4"));
  layer.SetUp(this->bottoms_, this->tops_);
  for (const int batch : {0, 1, 5}) {
    this->Fill({batch, 60});
    layer.Forward(this->bottoms_, this->tops_);
    EXPECT_EQ((vector<int>{batch, 4}), this->top_.shape());
    layer.Backward(this->tops_, {true}, this->bottoms_);
  }
  this->Fill({2, 61});
  EXPECT_THROW(layer.Forward(this->bottoms_, this->tops_), Error);
}

TYPED_TEST(InnerProductLayerTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ("num_output must be from 1 to 2147483647, not 0",
            this->ErrorOf(""));
  EXPECT_EQ("axis 4 is out of range for a blob of shape 2 3 4 5 (120)",
            this->ErrorOf("num_output: 4 axis: 4"));
  EXPECT_EQ("a blob cannot hold more than 2147483647 values",
            this->ErrorOf("num_output: 2147483647"));
  this->Fill({2, 0});
  EXPECT_EQ("has no inputs: its bottom has the shape 2 0 (0)",
            this->ErrorOf("num_output: 4"));
}

TYPED_TEST(InnerProductLayerTest, ChecksParametersThatComeWithIt) {
  typedef typename TypeParam::Dtype Dtype;
  LayerParameter param = Parse("num_output: 4 bias_term: false");
  Blob<Dtype>(vector<int>{60, 4}).ToProto(param.add_blobs());
  InnerProductLayer<Dtype> layer(param);
  EXPECT_THROW(layer.SetUp(this->bottoms_, this->tops_), Error);
  param.mutable_inner_product_param()->set_transpose(true);
  InnerProductLayer<Dtype> transposed(param);
  EXPECT_NO_THROW(transposed.SetUp(this->bottoms_, this->tops_));
}

}  // namespace caffe
