#include <set>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "net_test_util.hpp"

namespace caffe {

template <typename TypeParam>
class NetInitTest : public MultiDeviceTest<TypeParam> {};

TYPED_TEST_SUITE(NetInitTest, TestDtypesAndDevices);

// Two inputs, one of them used twice, an in-place layer, and a loss.
constexpr const char* kSmallNet = R"(
  name: 'small'
  layer { name: 'in' type: 'Input' top: 'x' top: 'target'
          input_param { shape { dim: 2 dim: 3 } } }
  layer { name: 'first' type: 'Affine' bottom: 'x' top: 'y' }
  layer { name: 'second' type: 'Affine' bottom: 'y' top: 'y' }
  layer { name: 'side' type: 'Affine' bottom: 'target' top: 'z' }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target'
          top: 'loss' })";

TYPED_TEST(NetInitTest, NamesLayersAndBlobsInOrder) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(kSmallNet);
  EXPECT_EQ("small", net->name());
  EXPECT_EQ((vector<string>{"in", "target_in_1_split", "first", "second",
                            "side", "loss"}),
            net->layer_names());
  EXPECT_EQ((vector<string>{"x", "target", "target_in_1_split_0",
                            "target_in_1_split_1", "y", "z", "loss"}),
            net->blob_names());
  ASSERT_EQ(7u, net->blobs().size());
  ASSERT_EQ(6u, net->layers().size());
  EXPECT_STREQ("Split", net->layers()[1]->type());
  EXPECT_EQ((vector<int>{2, 3}), net->blobs()[4]->shape());
  EXPECT_EQ(vector<int>{}, net->blobs()[6]->shape());
}

TYPED_TEST(NetInitTest, ConnectsLayersByTheNamesOfBlobs) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(kSmallNet);
  EXPECT_EQ((vector<int>{0, 1}), net->top_ids(0));
  EXPECT_EQ(vector<int>{}, net->bottom_ids(0));
  EXPECT_EQ(vector<int>{1}, net->bottom_ids(1));
  EXPECT_EQ((vector<int>{2, 3}), net->top_ids(1));
  EXPECT_EQ(vector<int>{4}, net->top_ids(2));
  EXPECT_EQ(vector<int>{4}, net->bottom_ids(3));
  EXPECT_EQ(vector<int>{4}, net->top_ids(3));
  EXPECT_EQ((vector<int>{4, 3}), net->bottom_ids(5));
  for (size_t i = 0; i < net->layers().size(); ++i) {
    ASSERT_EQ(net->bottom_ids(i).size(), net->bottom_vecs()[i].size());
    for (size_t j = 0; j < net->bottom_ids(i).size(); ++j) {
      EXPECT_EQ(net->blobs()[net->bottom_ids(i)[j]].get(),
                net->bottom_vecs()[i][j]);
    }
    ASSERT_EQ(net->top_ids(i).size(), net->top_vecs()[i].size());
    for (size_t j = 0; j < net->top_ids(i).size(); ++j) {
      EXPECT_EQ(net->blobs()[net->top_ids(i)[j]].get(), net->top_vecs()[i][j]);
    }
  }
}

TYPED_TEST(NetInitTest, InputLayersAreInputsAndUnreadBlobsAreOutputs) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(kSmallNet);
  EXPECT_EQ(2, net->num_inputs());
  EXPECT_EQ((vector<int>{0, 1}), net->input_blob_indices());
  EXPECT_EQ(net->blobs()[1].get(), net->input_blobs()[1]);
  // In the order of their names.
  EXPECT_EQ(2, net->num_outputs());
  EXPECT_EQ((vector<int>{6, 5}), net->output_blob_indices());
  EXPECT_EQ(net->blobs()[6].get(), net->output_blobs()[0]);
  EXPECT_EQ(net->blobs()[5].get(), net->output_blobs()[1]);
}

TYPED_TEST(NetInitTest, FindsBlobsAndLayersByName) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(kSmallNet);
  EXPECT_TRUE(net->has_blob("z"));
  EXPECT_EQ(net->blobs()[5], net->blob_by_name("z"));
  EXPECT_FALSE(net->has_blob("side"));
  EXPECT_EQ(nullptr, net->blob_by_name("side"));
  EXPECT_TRUE(net->has_layer("side"));
  EXPECT_EQ(net->layers()[4], net->layer_by_name("side"));
  EXPECT_FALSE(net->has_layer("z"));
  EXPECT_EQ(nullptr, net->layer_by_name("z"));
}

TYPED_TEST(NetInitTest, LayersAreInThePhaseOfTheNetUnlessTheySayOtherwise) {
  typedef typename TypeParam::Dtype Dtype;
  const string layers = R"(
    layer { name: 'a' type: 'Input' top: 'a' }
    layer { name: 'b' type: 'Input' top: 'b' phase: TEST })";
  const auto train = MakeNet<Dtype>("state { phase: TRAIN }" + layers);
  EXPECT_EQ(TRAIN, train->phase());
  EXPECT_EQ(TRAIN, train->layers()[0]->layer_param().phase());
  EXPECT_EQ(TEST, train->layers()[1]->layer_param().phase());
  const auto test = MakeNet<Dtype>(layers);
  EXPECT_EQ(TEST, test->phase());
  EXPECT_EQ(TEST, test->layers()[0]->layer_param().phase());
}

TYPED_TEST(NetInitTest, MakesUpTopsThatALossDoesNotName) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'target'
            input_param { shape { dim: 1 } } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'x' bottom: 'target' })");
  ASSERT_EQ(1u, net->top_vecs()[1].size());
  EXPECT_EQ("(automatic)", net->blob_names()[2]);
  EXPECT_EQ(0, net->num_outputs());
  Set<Dtype>({5}, net->input_blobs()[0]);
  Set<Dtype>({2}, net->input_blobs()[1]);
  Dtype loss;
  EXPECT_TRUE(net->Forward(&loss).empty());
  EXPECT_EQ(Dtype(4.5), loss);
}

TYPED_TEST(NetInitTest, KnowsTheLossWeightOfEveryBlob) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'target'
            input_param { shape { dim: 1 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' loss_weight: 0.25 }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'a' bottom: 'target'
            top: 'loss' loss_weight: 3 })");
  // The loss of `a` moves to the first copy, since `loss` reads it as well.
  EXPECT_EQ((vector<string>{"x", "target", "a", "a_a_0_split_0",
                            "a_a_0_split_1", "loss"}),
            net->blob_names());
  EXPECT_EQ((vector<Dtype>{0, 0, 0, 0.25, 0, 3}), net->blob_loss_weights());
  EXPECT_EQ(2, net->num_outputs());
}

TYPED_TEST(NetInitTest, ListsParametersWithTheirMultipliers) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x'
            input_param { shape { dim: 1 dim: 2 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a'
            param { lr_mult: 2 decay_mult: 0 } param { name: 'offset' } }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'b'
            param { decay_mult: 0.5 } })");
  ASSERT_EQ(4u, net->params().size());
  EXPECT_EQ(net->layers()[1]->blobs()[0], net->params()[0]);
  EXPECT_EQ(net->layers()[2]->blobs()[1], net->params()[3]);
  ASSERT_EQ(4u, net->learnable_params().size());
  EXPECT_EQ(net->params()[2].get(), net->learnable_params()[2]);
  EXPECT_EQ((vector<float>{2, 1, 1, 1}), net->params_lr());
  EXPECT_EQ((vector<bool>{true, false, false, false}), net->has_params_lr());
  EXPECT_EQ((vector<float>{0, 1, 0.5, 1}), net->params_weight_decay());
  EXPECT_EQ((vector<bool>{true, false, true, false}), net->has_params_decay());
  EXPECT_EQ((vector<string>{"0", "offset", "0", "1"}),
            net->param_display_names());
  EXPECT_EQ((map<string, int>{{"offset", 1}}), net->param_names_index());
  EXPECT_EQ((vector<int>{-1, -1, -1, -1}), net->param_owners());
}

TYPED_TEST(NetInitTest, LayersHaveASayInTheMultipliersOfTheirParameters) {
  typedef typename TypeParam::Dtype Dtype;
  // The statistics of a batch norm are parameters, but not to be learned.
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x'
            input_param { shape { dim: 2 dim: 3 } } }
    layer { name: 'norm' type: 'BatchNorm' bottom: 'x' top: 'y'
            loss_weight: 1 })");
  EXPECT_EQ((vector<float>{0, 0, 0}), net->params_lr());
  EXPECT_EQ((vector<bool>{false, false}), net->layer_need_backward());
  EXPECT_FALSE(net->layers()[1]->param_propagate_down(0));
}

TYPED_TEST(NetInitTest, ANetWithoutLayersDoesNothing) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>("name: 'empty'");
  Dtype loss = 7;
  EXPECT_TRUE(net->Forward(&loss).empty());
  EXPECT_EQ(0, loss);
  net->Backward();
  net->Update();
}

TYPED_TEST(NetInitTest, LayersWithoutParametersNeedNoNames) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { type: 'Input' top: 'x' input_param { shape { dim: 1 } } }
    layer { type: 'Softmax' bottom: 'x' top: 'y' softmax_param { axis: 0 } })");
  net->Forward();
  EXPECT_EQ(1, net->output_blobs()[0]->cpu_data()[0]);
}

}  // namespace caffe
