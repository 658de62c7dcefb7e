#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Weights that come from another net or go to one.
template <typename TypeParam>
class NetWeightsTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Two layers for samples of `size` values, with weights of `a` and `b`.
  static string Chain(int size, const string& a, const string& b) {
    return Concat(R"(
        name: 'chain'
        layer { name: 'in' type: 'Input' top: 'x'
                input_param { shape { dim: 1 dim: )",
                  size, " } } } ", a, " ", b);
  }

  static string AffineNamed(const string& name, const string& bottom,
                            const string& top, float scale) {
    return Concat("layer { name: '", name, "' type: 'Affine' bottom: '", bottom,
                  "' top: '", top, "' power_param { scale: ", scale, " } }");
  }

  static std::unique_ptr<Net<Dtype>> TwoLayers(float first, float second,
                                               int size = 2) {
    return MakeNet<Dtype>(Chain(size, AffineNamed("first", "x", "y", first),
                                AffineNamed("second", "y", "z", second)));
  }
};

TYPED_TEST_SUITE(NetWeightsTest, TestDtypesAndDevices);

TYPED_TEST(NetWeightsTest, ToProtoHasLayersWithTheirSettingsAndWeights) {
  const auto net = this->TwoLayers(3, 5);
  NetParameter proto;
  proto.add_layer()->set_name("to be overwritten");
  net->ToProto(&proto);
  EXPECT_EQ("chain", proto.name());
  ASSERT_EQ(3, proto.layer_size());
  EXPECT_EQ("in", proto.layer(0).name());
  EXPECT_EQ(0, proto.layer(0).blobs_size());
  EXPECT_EQ("second", proto.layer(2).name());
  EXPECT_EQ("Affine", proto.layer(2).type());
  EXPECT_EQ("y", proto.layer(2).bottom(0));
  EXPECT_EQ(5, proto.layer(2).power_param().scale());
  ASSERT_EQ(2, proto.layer(2).blobs_size());
  const BlobProto& weight = proto.layer(2).blobs(0);
  EXPECT_EQ(2, weight.shape().dim(0));
  if (sizeof(typename TypeParam::Dtype) == sizeof(float)) {
    ASSERT_EQ(2, weight.data_size());
    EXPECT_EQ(5, weight.data(1));
  } else {
    ASSERT_EQ(2, weight.double_data_size());
    EXPECT_EQ(5, weight.double_data(1));
  }
  EXPECT_EQ(0, weight.diff_size() + weight.double_diff_size());
}

TYPED_TEST(NetWeightsTest, ToProtoWritesGradientsOnRequest) {
  typedef typename TypeParam::Dtype Dtype;
  auto net = this->TwoLayers(3, 5);
  net->params()[2]->mutable_cpu_diff()[1] = 9;
  NetParameter proto;
  net->ToProto(&proto, /*write_diff=*/true);
  net = this->TwoLayers(1, 1);
  net->CopyTrainedLayersFrom(proto);
  EXPECT_EQ((vector<Dtype>{0, 9}), DiffOf(*net->params()[2]));
  EXPECT_EQ((vector<Dtype>{5, 5}), DataOf(*net->params()[2]));
}

TYPED_TEST(NetWeightsTest, CopiesIntoLayersOfTheSameName) {
  typedef typename TypeParam::Dtype Dtype;
  NetParameter proto;
  this->TwoLayers(3, 5)->ToProto(&proto);
  // The layers stand in another order, and one has another name.
  const auto net =
      MakeNet<Dtype>(this->Chain(2, this->AffineNamed("second", "x", "y", 7),
                                 this->AffineNamed("new", "y", "z", 11)));
  net->CopyTrainedLayersFrom(proto);
  EXPECT_EQ((vector<Dtype>{5, 5}), DataOf(*net->params()[0]));
  EXPECT_EQ((vector<Dtype>{11, 11}), DataOf(*net->params()[2]));
}

TYPED_TEST(NetWeightsTest, FloatAndDoubleWeightsConvert) {
  NetParameter proto;
  const string text = this->Chain(1, this->AffineNamed("first", "x", "y", 0.5),
                                  this->AffineNamed("second", "y", "z", 2));
  MakeNet<float>(text)->ToProto(&proto);
  const auto as_double = this->TwoLayers(1, 1, 1);
  as_double->CopyTrainedLayersFrom(proto);
  EXPECT_EQ(0.5, as_double->params()[0]->cpu_data()[0]);
  MakeNet<double>(text)->ToProto(&proto);
  const auto as_float = this->TwoLayers(1, 1, 1);
  as_float->CopyTrainedLayersFrom(proto);
  EXPECT_EQ(0.5, as_float->params()[0]->cpu_data()[0]);
}

TYPED_TEST(NetWeightsTest, ReadsLegacyShapes) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = this->TwoLayers(1, 1);
  const NetParameter proto = ParseNet(R"(
    layer { name: 'second'
            blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 4 }
            blobs { num: 1 channels: 1 height: 1 width: 2 data: 5 data: 6 } })");
  net->CopyTrainedLayersFrom(proto);
  EXPECT_EQ((vector<Dtype>{3, 4}), DataOf(*net->params()[2]));
  EXPECT_EQ((vector<Dtype>{5, 6}), DataOf(*net->params()[3]));
}

TYPED_TEST(NetWeightsTest, RefusesWeightsOfAnotherShape) {
  NetParameter proto;
  this->TwoLayers(3, 5, 4)->ToProto(&proto);
  const auto net = this->TwoLayers(1, 1);
  EXPECT_EQ(
      "layer 'first' (Affine): its parameter 0 has the shape 2 (2) here but 4 "
      "(4) where its weights should come from; to learn the layer from "
      "scratch, rename it",
      ErrorOf([&] { net->CopyTrainedLayersFrom(proto); }));
}

TYPED_TEST(NetWeightsTest, RefusesAnotherNumberOfWeights) {
  NetParameter proto;
  this->TwoLayers(3, 5)->ToProto(&proto);
  const auto net = this->TwoLayers(1, 1);
  proto.mutable_layer(2)->mutable_blobs()->RemoveLast();
  EXPECT_EQ(
      "layer 'second' (Affine): has 2 parameter blob(s) here but 1 where its "
      "weights should come from",
      ErrorOf([&] { net->CopyTrainedLayersFrom(proto); }));
  proto.mutable_layer(2)->clear_blobs();
  EXPECT_EQ(
      "layer 'second' (Affine): has 2 parameter blob(s) here but 0 where its "
      "weights should come from",
      ErrorOf([&] { net->CopyTrainedLayersFrom(proto); }));
}

TYPED_TEST(NetWeightsTest, RefusesDamagedWeights) {
  const auto net = this->TwoLayers(1, 1);
  EXPECT_EQ(
      "layer 'first' (Affine): has 1 data values where its shape asks for 2",
      ErrorOf([&] {
        net->CopyTrainedLayersFrom(ParseNet(R"(
            layer { name: 'first' blobs { shape { dim: 2 } data: 1 }
                    blobs { shape { dim: 2 } data: 1 data: 2 } })"));
      }));
}

TYPED_TEST(NetWeightsTest, LayersMayBringTheirWeightsAlong) {
  typedef typename TypeParam::Dtype Dtype;
  NetParameter proto;
  this->TwoLayers(3, 5)->ToProto(&proto);
  proto.mutable_layer(2)->clear_power_param();
  const Net<Dtype> net(proto);
  EXPECT_EQ((vector<Dtype>{5, 5}), DataOf(*net.params()[2]));
}

TYPED_TEST(NetWeightsTest, SharesMemoryWithAnotherNet) {
  typedef typename TypeParam::Dtype Dtype;
  const auto owner = this->TwoLayers(3, 5);
  const auto net =
      MakeNet<Dtype>(this->Chain(2, this->AffineNamed("second", "x", "y", 7),
                                 this->AffineNamed("new", "y", "z", 11)));
  net->ShareTrainedLayersWith(owner.get());
  EXPECT_EQ(owner->params()[2]->cpu_data(), net->params()[0]->cpu_data());
  // Gradients stay apart.
  EXPECT_NE(owner->params()[2]->cpu_diff(), net->params()[0]->cpu_diff());
  EXPECT_EQ((vector<Dtype>{11, 11}), DataOf(*net->params()[2]));
  owner->params()[2]->mutable_cpu_data()[1] = 6;
  Set<Dtype>({1, 1}, net->input_blobs()[0]);
  net->Forward();
  EXPECT_EQ((vector<Dtype>{55, 66}), DataOf(*net->output_blobs()[0]));
}

TYPED_TEST(NetWeightsTest, RefusesToShareMemoryOfAnotherShape) {
  const auto owner = this->TwoLayers(3, 5, 4);
  const auto net = this->TwoLayers(1, 1);
  EXPECT_EQ(
      "layer 'first' (Affine): its parameter 0 has the shape 2 (2) here but 4 "
      "(4) where its weights should come from; to learn the layer from "
      "scratch, rename it",
      ErrorOf([&] { net->ShareTrainedLayersWith(owner.get()); }));
}

}  // namespace caffe
