#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Parameters that several layers of a net share by giving them one name.
template <typename TypeParam>
class NetShareWeightsTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // y = w (w x), each layer with an offset of its own; what `a` and `b` say
  // about the shared weight goes into their param messages.
  static string Net2(const string& a, const string& b) {
    return R"(
      layer { name: 'in' type: 'Input' top: 'x'
              input_param { shape { dim: 1 dim: 2 } } }
      layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a'
              power_param { scale: 3 } param { name: 'w' )" +
           a + R"( } }
      layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y' loss_weight: 1
              power_param { scale: 5 } param { name: 'w' )" +
           b + "} }";
  }
};

TYPED_TEST_SUITE(NetShareWeightsTest, TestDtypesAndDevices);

TYPED_TEST(NetShareWeightsTest, TheFirstLayerOwnsTheMemory) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(this->Net2("", ""));
  EXPECT_EQ((vector<int>{-1, -1, 0, -1}), net->param_owners());
  EXPECT_EQ((vector<string>{"w", "1", "w", "1"}), net->param_display_names());
  EXPECT_EQ((map<string, int>{{"w", 0}}), net->param_names_index());
  ASSERT_EQ(4u, net->params().size());
  EXPECT_EQ(net->params()[0]->cpu_data(), net->params()[2]->cpu_data());
  EXPECT_EQ(net->params()[0]->cpu_diff(), net->params()[2]->cpu_diff());
  EXPECT_NE(net->params()[1]->cpu_data(), net->params()[3]->cpu_data());
  EXPECT_EQ(
      (vector<Blob<Dtype>*>{net->params()[0].get(), net->params()[1].get(),
                            net->params()[3].get()}),
      net->learnable_params());
  // The owner's first value counts.
  EXPECT_EQ((vector<Dtype>{3, 3}), DataOf(*net->params()[2]));
}

TYPED_TEST(NetShareWeightsTest, GradientsOfAllUsesAddUp) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(this->Net2("", ""));
  Set<Dtype>({1, 10}, net->input_blobs()[0]);
  EXPECT_EQ(99, net->ForwardBackward());
  // d(w^2 x) / dw = 2 w x.
  EXPECT_EQ((vector<Dtype>{6, 60}), DiffOf(*net->params()[0]));
  net->Update();
  EXPECT_EQ((vector<Dtype>{-3, -57}), DataOf(*net->params()[2]));
}

TYPED_TEST(NetShareWeightsTest, WeightsStayOneWhenSavedAndRead) {
  typedef typename TypeParam::Dtype Dtype;
  auto net = MakeNet<Dtype>(this->Net2("", ""));
  Set<Dtype>({7, 8}, net->learnable_params()[0]);
  NetParameter saved;
  net->ToProto(&saved);
  net = MakeNet<Dtype>(this->Net2("", ""));
  net->CopyTrainedLayersFrom(saved);
  EXPECT_EQ((vector<Dtype>{7, 8}), DataOf(*net->params()[0]));
  EXPECT_EQ(net->params()[0]->cpu_data(), net->params()[2]->cpu_data());
  Set<Dtype>({1, 1}, net->input_blobs()[0]);
  net->Forward();
  EXPECT_EQ((vector<Dtype>{49, 64}), DataOf(*net->output_blobs()[0]));
}

TYPED_TEST(NetShareWeightsTest, NamesWithoutASecondUseShareNothing) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x'
            input_param { shape { dim: 1 dim: 2 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a'
            param { name: 'w' } }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y'
            param { name: 'v' } })");
  EXPECT_EQ((vector<int>{-1, -1, -1, -1}), net->param_owners());
  EXPECT_NE(net->params()[0]->cpu_data(), net->params()[2]->cpu_data());
}

TYPED_TEST(NetShareWeightsTest, OneLayerMayShareWithItself) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x'
            input_param { shape { dim: 1 dim: 1 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y' loss_weight: 1
            param { name: 'w' } param { name: 'w' } })");
  Set<Dtype>({4}, net->input_blobs()[0]);
  // w x + w.
  EXPECT_EQ(5, net->ForwardBackward());
  EXPECT_EQ(1u, net->learnable_params().size());
  EXPECT_EQ(5, net->learnable_params()[0]->cpu_diff()[0]);
}

TYPED_TEST(NetShareWeightsTest, MultipliersMayBeGivenByAnyUse) {
  typedef typename TypeParam::Dtype Dtype;
  for (const auto& [a, b] : vector<pair<string, string>>{
           {"lr_mult: 2 decay_mult: 3", ""},
           {"", "lr_mult: 2 decay_mult: 3"},
           {"lr_mult: 2", "decay_mult: 3"},
           {"lr_mult: 2 decay_mult: 3", "lr_mult: 2 decay_mult: 3"}}) {
    const auto net = MakeNet<Dtype>(this->Net2(a, b));
    EXPECT_EQ((vector<float>{2, 1, 1}), net->params_lr()) << a << "|" << b;
    EXPECT_EQ((vector<bool>{true, false, false}), net->has_params_lr());
    EXPECT_EQ((vector<float>{3, 1, 1}), net->params_weight_decay());
    EXPECT_EQ((vector<bool>{true, false, false}), net->has_params_decay());
  }
}

TYPED_TEST(NetShareWeightsTest, RefusesMultipliersThatDiffer) {
  typedef typename TypeParam::Dtype Dtype;
  EXPECT_EQ(
      "layer 'b' (Affine): gives the shared parameter 'w' the lr_mult 3, but "
      "another layer gives it 2",
      ErrorOf([&] { MakeNet<Dtype>(this->Net2("lr_mult: 2", "lr_mult: 3")); }));
  EXPECT_EQ(
      "layer 'b' (Affine): gives the shared parameter 'w' the decay_mult 0, "
      "but another layer gives it 1",
      ErrorOf([&] {
        MakeNet<Dtype>(this->Net2("decay_mult: 1", "decay_mult: 0"));
      }));
}

// Weights of shape 2 x 3 in `a` and 3 x 2 in `b`.
static string TwoShapes(const string& share_mode) {
  return R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'z' input_param {
            shape { dim: 1 dim: 2 dim: 3 } shape { dim: 1 dim: 3 dim: 2 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a'
            param { name: 'w' } }
    layer { name: 'b' type: 'Affine' bottom: 'z' top: 'b'
            param { name: 'w' )" +
         share_mode + "} }";
}

TYPED_TEST(NetShareWeightsTest, PermissiveSharingNeedsTheSameCountOnly) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(TwoShapes("share_mode: PERMISSIVE"));
  EXPECT_EQ((vector<int>{3, 2}), net->params()[2]->shape());
  EXPECT_EQ(net->params()[0]->cpu_data(), net->params()[2]->cpu_data());
}

TYPED_TEST(NetShareWeightsTest, RefusesShapesThatDiffer) {
  typedef typename TypeParam::Dtype Dtype;
  for (const char* const mode : {"", "share_mode: STRICT"}) {
    EXPECT_EQ(
        "layer 'b' (Affine): cannot share the parameter 'w' of layer 'a': it "
        "has the shape 2 3 (6) there and 3 2 (6) here, and share_mode is "
        "STRICT",
        ErrorOf([&] { MakeNet<Dtype>(TwoShapes(mode)); }));
  }
  string another_count = TwoShapes("share_mode: PERMISSIVE");
  another_count.replace(another_count.find("dim: 3 dim: 2"), 13,
                        "dim: 3 dim: 3");
  EXPECT_EQ(
      "layer 'b' (Affine): cannot share the parameter 'w' of layer 'a': it "
      "has the shape 2 3 (6) there and 3 3 (9) here",
      ErrorOf([&] { MakeNet<Dtype>(another_count); }));
}

}  // namespace caffe
