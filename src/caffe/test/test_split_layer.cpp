#include "caffe/layers/split_layer.hpp"

#include <google/protobuf/text_format.h>

#include "caffe/filler.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_gradient_check_util.hpp"
#include "caffe/util/insert_splits.hpp"

namespace caffe {

template <typename TypeParam>
class SplitLayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SplitLayerTest() : bottom_(2, 3, 6, 5) {
    Caffe::set_random_seed(1701);
    GaussianFiller<Dtype>(FillerParameter()).Fill(&bottom_);
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> top_a_;
  Blob<Dtype> top_b_;
  Blob<Dtype> top_c_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_a_, &top_b_};
};

TYPED_TEST_SUITE(SplitLayerTest, TestDtypesAndDevices);

TYPED_TEST(SplitLayerTest, TopsShareTheBottomsData) {
  typedef typename TypeParam::Dtype Dtype;
  SplitLayer<Dtype> layer{LayerParameter()};
  const auto expect_shared = [this] {
    for (const Blob<Dtype>* top : this->tops_) {
      EXPECT_EQ(this->bottom_.shape(), top->shape());
      EXPECT_EQ(this->bottom_.data(), top->data());
    }
  };
  layer.SetUp(this->bottoms_, this->tops_);
  expect_shared();
  // Also when the bottom has got other memory.
  this->bottom_.Reshape(3, 3, 6, 5);
  layer.Forward(this->bottoms_, this->tops_);
  expect_shared();
}

TYPED_TEST(SplitLayerTest, BackwardSumsAnyNumberOfTops) {
  typedef typename TypeParam::Dtype Dtype;
  const vector<Blob<Dtype>*> all = {&this->top_a_, &this->top_b_,
                                    &this->top_c_};
  // The last size is shared among threads and not a multiple of any block.
  for (const int items : {1, 70001}) {
    for (size_t number = 1; number <= all.size(); ++number) {
      this->bottom_.Reshape({items});
      const vector<Blob<Dtype>*> tops(all.begin(), all.begin() + number);
      SplitLayer<Dtype> layer{LayerParameter()};
      layer.SetUp(this->bottoms_, tops);
      layer.Forward(this->bottoms_, tops);
      for (size_t t = 0; t < number; ++t) {
        for (int i = 0; i < items; ++i) {
          tops[t]->mutable_cpu_diff()[i] = (t + 1) * (i % 100);
        }
      }
      layer.Backward(tops, {true}, this->bottoms_);
      const int sum_of_factors = number * (number + 1) / 2;
      for (int i = 0; i < items; ++i) {
        ASSERT_EQ(sum_of_factors * (i % 100), this->bottom_.cpu_diff()[i]);
      }
    }
  }
}

TYPED_TEST(SplitLayerTest, BackwardLeavesTheBottomAloneWhenToldTo) {
  typedef typename TypeParam::Dtype Dtype;
  SplitLayer<Dtype> layer{LayerParameter()};
  layer.SetUp(this->bottoms_, this->tops_);
  caffe_set(this->bottom_.count(), Dtype(7), this->bottom_.mutable_cpu_diff());
  layer.Backward(this->tops_, {false}, this->bottoms_);
  EXPECT_EQ(7, this->bottom_.cpu_diff()[0]);
}

TYPED_TEST(SplitLayerTest, RefusesToWorkInPlace) {
  typedef typename TypeParam::Dtype Dtype;
  SplitLayer<Dtype> layer{LayerParameter()};
  EXPECT_THROW(layer.SetUp(this->bottoms_, {&this->top_a_, &this->bottom_}),
               Error);
}

TYPED_TEST(SplitLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  SplitLayer<Dtype> layer{LayerParameter()};
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradientEltwise(&layer, this->bottoms_, this->tops_);
  SplitLayer<Dtype> whole{LayerParameter()};
  GradientChecker<Dtype>(1e-2, 1e-2)
      .CheckGradient(&whole, this->bottoms_, this->tops_);
}

class SplitLayerInsertionTest : public ::testing::Test {
 protected:
  static NetParameter Parse(const string& text) {
    NetParameter net;
    CHECK(google::protobuf::TextFormat::ParseFromString(text, &net)) << text;
    return net;
  }

  // Also checks that a second insertion finds nothing to do.
  static void ExpectInsertion(const string& before, const string& after) {
    const NetParameter expected = Parse(after);
    NetParameter inserted;
    InsertSplits(Parse(before), &inserted);
    EXPECT_EQ(expected.DebugString(), inserted.DebugString());
    NetParameter again;
    InsertSplits(inserted, &again);
    EXPECT_EQ(expected.DebugString(), again.DebugString());
  }
};

TEST_F(SplitLayerInsertionTest, NamesFollowCaffe) {
  EXPECT_EQ("pool_relu1_2_split", SplitLayerName("relu1", "pool", 2));
  EXPECT_EQ("pool_relu1_2_split_0", SplitBlobName("relu1", "pool", 2, 0));
  LayerParameter split;
  split.set_phase(TEST);  // anything from before goes
  ConfigureSplitLayer("ip", "blob", 1, 3, 0.5, &split);
  LayerParameter expected;
  CHECK(google::protobuf::TextFormat::ParseFromString(R"(
      name: 'blob_ip_1_split' type: 'Split' bottom: 'blob'
      top: 'blob_ip_1_split_0' top: 'blob_ip_1_split_1'
      top: 'blob_ip_1_split_2'
      loss_weight: 0.5 loss_weight: 0 loss_weight: 0)",
                                                      &expected));
  EXPECT_EQ(expected.DebugString(), split.DebugString());
}

TEST_F(SplitLayerInsertionTest, LeavesNetsWithoutSharingAlone) {
  const string net = R"(
    name: 'plain' force_backward: true debug_info: true
    state { phase: TEST level: 3 stage: 'deploy' }
    layer { name: 'data' type: 'Data' top: 'data' top: 'label' }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
            param { name: 'w' lr_mult: 2 }
            inner_product_param { num_output: 3 } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip'
            bottom: 'label' top: 'loss' loss_weight: 2 }
    layer { name: 'end' type: 'Silence' })";
  ExpectInsertion(net, net);
}

TEST_F(SplitLayerInsertionTest, SplitsEveryTopThatIsSharedInOrderOfUse) {
  ExpectInsertion(R"(
    name: 'two'
    layer { name: 'data' type: 'Data' top: 'data' top: 'label' }
    layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1' }
    layer { name: 'ip2' type: 'InnerProduct' bottom: 'data' top: 'ip2' }
    layer { name: 'ip3' type: 'InnerProduct' bottom: 'data' top: 'ip3' }
    layer { name: 'loss1' type: 'EuclideanLoss' bottom: 'ip1' bottom: 'ip2' }
    layer { name: 'loss2' type: 'SoftmaxWithLoss' bottom: 'ip3'
            bottom: 'label' }
    layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip3'
            bottom: 'label' top: 'accuracy' })",
                  R"(
    name: 'two'
    layer { name: 'data' type: 'Data' top: 'data' top: 'label' }
    layer { name: 'data_data_0_split' type: 'Split' bottom: 'data'
            top: 'data_data_0_split_0' top: 'data_data_0_split_1'
            top: 'data_data_0_split_2' }
    layer { name: 'label_data_1_split' type: 'Split' bottom: 'label'
            top: 'label_data_1_split_0' top: 'label_data_1_split_1' }
    layer { name: 'ip1' type: 'InnerProduct' bottom: 'data_data_0_split_0'
            top: 'ip1' }
    layer { name: 'ip2' type: 'InnerProduct' bottom: 'data_data_0_split_1'
            top: 'ip2' }
    layer { name: 'ip3' type: 'InnerProduct' bottom: 'data_data_0_split_2'
            top: 'ip3' }
    layer { name: 'ip3_ip3_0_split' type: 'Split' bottom: 'ip3'
            top: 'ip3_ip3_0_split_0' top: 'ip3_ip3_0_split_1' }
    layer { name: 'loss1' type: 'EuclideanLoss' bottom: 'ip1' bottom: 'ip2' }
    layer { name: 'loss2' type: 'SoftmaxWithLoss' bottom: 'ip3_ip3_0_split_0'
            bottom: 'label_data_1_split_0' }
    layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip3_ip3_0_split_1'
            bottom: 'label_data_1_split_1' top: 'accuracy' })");
}

TEST_F(SplitLayerInsertionTest, SplitsABlobThatOneLayerTakesTwice) {
  ExpectInsertion(R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'square' type: 'Eltwise' bottom: 'x' bottom: 'x' top: 'y' })",
                  R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'x_in_0_split' type: 'Split' bottom: 'x'
            top: 'x_in_0_split_0' top: 'x_in_0_split_1' }
    layer { name: 'square' type: 'Eltwise' bottom: 'x_in_0_split_0'
            bottom: 'x_in_0_split_1' top: 'y' })");
}

TEST_F(SplitLayerInsertionTest, InPlaceChainsSplitOnlyBehindTheirEnd) {
  ExpectInsertion(R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'x' }
    layer { name: 'drop' type: 'Dropout' bottom: 'x' top: 'x' }
    layer { name: 'a' type: 'Power' bottom: 'x' top: 'a' }
    layer { name: 'b' type: 'Power' bottom: 'x' top: 'b' })",
                  R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'x' }
    layer { name: 'drop' type: 'Dropout' bottom: 'x' top: 'x' }
    layer { name: 'x_drop_0_split' type: 'Split' bottom: 'x'
            top: 'x_drop_0_split_0' top: 'x_drop_0_split_1' }
    layer { name: 'a' type: 'Power' bottom: 'x_drop_0_split_0' top: 'a' }
    layer { name: 'b' type: 'Power' bottom: 'x_drop_0_split_1' top: 'b' })");
}

TEST_F(SplitLayerInsertionTest, ABlobMayBeUsedBeforeItIsOverwritten) {
  // `early` reads what `in` made, so `relu` no longer works in place.
  ExpectInsertion(R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'early' type: 'Power' bottom: 'x' top: 'a' }
    layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'x' }
    layer { name: 'late' type: 'Power' bottom: 'x' top: 'b' })",
                  R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'x_in_0_split' type: 'Split' bottom: 'x'
            top: 'x_in_0_split_0' top: 'x_in_0_split_1' }
    layer { name: 'early' type: 'Power' bottom: 'x_in_0_split_0' top: 'a' }
    layer { name: 'relu' type: 'ReLU' bottom: 'x_in_0_split_1' top: 'x' }
    layer { name: 'late' type: 'Power' bottom: 'x' top: 'b' })");
}

TEST_F(SplitLayerInsertionTest, ALossWeightCountsAsAUseAndMovesToTheSplit) {
  ExpectInsertion(R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'ip'
            loss_weight: 2.5 }
    layer { name: 'use' type: 'Power' bottom: 'ip' top: 'y' })",
                  R"(
    layer { name: 'in' type: 'Input' top: 'x' }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'ip' }
    layer { name: 'ip_ip_0_split' type: 'Split' bottom: 'ip'
            top: 'ip_ip_0_split_0' top: 'ip_ip_0_split_1'
            loss_weight: 2.5 loss_weight: 0 }
    layer { name: 'use' type: 'Power' bottom: 'ip_ip_0_split_1' top: 'y' })");
}

TEST_F(SplitLayerInsertionTest, ZeroLossWeightsAreNoUse) {
  const string net = R"(
    layer { name: 'in' type: 'Input' top: 'x' loss_weight: 0 }
    layer { name: 'use' type: 'Power' bottom: 'x' top: 'y' })";
  ExpectInsertion(net, net);
}

TEST_F(SplitLayerInsertionTest, OtherTopsKeepTheirLossWeights) {
  ExpectInsertion(R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'z'
            loss_weight: 3 loss_weight: 4 }
    layer { name: 'use' type: 'Power' bottom: 'x' top: 'y' })",
                  R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'z'
            loss_weight: 0 loss_weight: 4 }
    layer { name: 'x_in_0_split' type: 'Split' bottom: 'x'
            top: 'x_in_0_split_0' top: 'x_in_0_split_1'
            loss_weight: 3 loss_weight: 0 }
    layer { name: 'use' type: 'Power' bottom: 'x_in_0_split_1' top: 'y' })");
}

TEST_F(SplitLayerInsertionTest, NamesTheLayerAndBlobOfAnUnknownBottom) {
  NetParameter split;
  try {
    InsertSplits(Parse(R"(
        layer { name: 'in' type: 'Input' top: 'x' }
        layer { name: 'ip' type: 'InnerProduct' bottom: 'x' bottom: 'w' })"),
                 &split);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(
        "layer 'ip' (InnerProduct): unknown bottom blob 'w' (bottom index 1): "
        "no "
        "layer before makes it",
        error.what());
  }
}

}  // namespace caffe
