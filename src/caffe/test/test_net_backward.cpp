#include <string>
#include <vector>

#include "caffe/filler.hpp"
#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Which gradients a net computes, and what they are.
template <typename TypeParam>
class NetBackwardTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // x and target hold one value each; `layers` go between them and a loss of
  // (y - target)^2 / 2.
  void Make(const string& layers, const string& settings = "") {
    net_ = MakeNet<Dtype>(settings + R"(
        layer { name: 'in' type: 'Input' top: 'x' top: 'target'
                input_param { shape { dim: 1 dim: 1 } } })" +
                          layers + R"(
        layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y'
                bottom: 'target' top: 'loss' })");
    Set<Dtype>({3}, net_->blob_by_name("x").get());
    Set<Dtype>({4}, net_->blob_by_name("target").get());
  }

  bool NeedsBackward(const string& layer) const {
    return net_->layer_need_backward()[LayerId(layer)];
  }

  vector<bool> BottomsNeedBackward(const string& layer) const {
    return net_->bottom_need_backward()[LayerId(layer)];
  }

  // The gradient of a parameter that holds one value.
  Dtype ParamDiff(const string& layer, int param) const {
    return net_->layer_by_name(layer)->blobs()[param]->cpu_diff()[0];
  }

  int LayerId(const string& layer) const {
    const vector<string>& names = net_->layer_names();
    const auto found = std::find(names.begin(), names.end(), layer);
    CHECK(found != names.end()) << layer;
    return static_cast<int>(found - names.begin());
  }

  std::unique_ptr<Net<Dtype>> net_;
};

TYPED_TEST_SUITE(NetBackwardTest, TestDtypesAndDevices);

constexpr const char* kTwoLayers = R"(
  layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a'
          power_param { scale: 2 } }
  layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y'
          power_param { scale: 5 shift: -20 } })";

TYPED_TEST(NetBackwardTest, GradientsOfHandWorkedValues) {
  this->Make(kTwoLayers);
  // a = 6, y = 10, loss = 6^2 / 2, dy = 6, da = 30.
  EXPECT_EQ(18, this->net_->ForwardBackward());
  EXPECT_EQ(36, this->ParamDiff("b", 0));
  EXPECT_EQ(6, this->ParamDiff("b", 1));
  EXPECT_EQ(90, this->ParamDiff("a", 0));
  EXPECT_EQ(30, this->ParamDiff("a", 1));
}

TYPED_TEST(NetBackwardTest, ParameterGradientsAddUpUntilCleared) {
  this->Make(kTwoLayers);
  this->net_->ForwardBackward();
  this->net_->ForwardBackward();
  EXPECT_EQ(72, this->ParamDiff("b", 0));
  EXPECT_EQ(180, this->ParamDiff("a", 0));
  this->net_->ClearParamDiffs();
  EXPECT_EQ(0, this->ParamDiff("b", 0));
  EXPECT_EQ(0, this->ParamDiff("a", 1));
  this->net_->ForwardBackward();
  EXPECT_EQ(36, this->ParamDiff("b", 0));
  EXPECT_EQ(90, this->ParamDiff("a", 0));
}

TYPED_TEST(NetBackwardTest, UpdateSubtractsTheGradients) {
  this->Make(kTwoLayers);
  this->net_->ForwardBackward();
  this->net_->Update();
  EXPECT_EQ(2 - 90, this->net_->params()[0]->cpu_data()[0]);
  EXPECT_EQ(0 - 30, this->net_->params()[1]->cpu_data()[0]);
  EXPECT_EQ(5 - 36, this->net_->params()[2]->cpu_data()[0]);
  EXPECT_EQ(-20 - 6, this->net_->params()[3]->cpu_data()[0]);
}

TYPED_TEST(NetBackwardTest, LossWeightsScaleGradients) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            loss_weight: 10 power_param { scale: 2 } })");
  // y = 6 counts tenfold by itself, and (6 - 4)^2 / 2 once.
  EXPECT_EQ(62, this->net_->ForwardBackward());
  EXPECT_EQ((10 + 2) * 3, this->ParamDiff("a", 0));
  EXPECT_EQ(10 + 2, this->ParamDiff("a", 1));
}

TYPED_TEST(NetBackwardTest, LossWeightsFollowTheirTop) {
  typedef typename TypeParam::Dtype Dtype;
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            loss_weight: 10 power_param { scale: 2 } })");
  const auto reshape = [&](int images) {
    const TightReshape tight;
    for (Blob<Dtype>* const input : this->net_->input_blobs()) {
      input->Reshape({images, 1});
    }
    this->net_->Reshape();
  };
  for (const int images : {3, 1, 3}) {
    // Other memory, even for as many values.
    reshape(images + 2);
    reshape(images);
    Set<Dtype>(vector<Dtype>(images, 3), this->net_->input_blobs()[0]);
    Set<Dtype>(vector<Dtype>(images, 4), this->net_->input_blobs()[1]);
    this->net_->ClearParamDiffs();
    // As above, but for the mean of the other loss.
    EXPECT_EQ(60 * images + 2, this->net_->ForwardBackward());
    EXPECT_EQ(10 * images + 2, this->ParamDiff("a", 1));
  }
}

TYPED_TEST(NetBackwardTest, GradientsOfSeveralReadersAddUp) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y' }
    layer { name: 'c' type: 'Affine' bottom: 'a' top: 'c' loss_weight: 7
            power_param { scale: 2 } })");
  // y = 3 misses the target by -1; c = 6 counts sevenfold.
  EXPECT_EQ(42.5, this->net_->ForwardBackward());
  EXPECT_EQ((-1 + 14) * 3, this->ParamDiff("a", 0));
}

TYPED_TEST(NetBackwardTest, InputsNeedNoGradients) {
  this->Make(kTwoLayers);
  EXPECT_FALSE(this->NeedsBackward("in"));
  EXPECT_TRUE(this->NeedsBackward("a"));
  EXPECT_EQ(vector<bool>{false}, this->BottomsNeedBackward("a"));
  EXPECT_TRUE(this->NeedsBackward("b"));
  EXPECT_EQ(vector<bool>{true}, this->BottomsNeedBackward("b"));
  EXPECT_EQ((vector<bool>{true, false}), this->BottomsNeedBackward("loss"));
  this->net_->ForwardBackward();
  EXPECT_EQ(0, this->net_->blob_by_name("x")->asum_diff());
}

TYPED_TEST(NetBackwardTest, NothingGoesBackPastLayersThatDoNotLearn) {
  const string fixed = "param { lr_mult: 0 } param { lr_mult: 0 }";
  this->Make("layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' " + fixed +
             "} layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y' "
             "param { lr_mult: 0 } }");
  EXPECT_FALSE(this->NeedsBackward("a"));
  EXPECT_TRUE(this->NeedsBackward("b"));
  EXPECT_EQ(vector<bool>{false}, this->BottomsNeedBackward("b"));
  EXPECT_FALSE(this->net_->layer_by_name("b")->param_propagate_down(0));
  EXPECT_TRUE(this->net_->layer_by_name("b")->param_propagate_down(1));
  this->net_->ForwardBackward();
  EXPECT_EQ(0, this->ParamDiff("b", 0));
  EXPECT_EQ(-1, this->ParamDiff("b", 1));
  EXPECT_EQ(0, this->net_->blob_by_name("a")->asum_diff());
}

TYPED_TEST(NetBackwardTest, ANetThatDoesNotLearnRunsNothingBackward) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            param { lr_mult: 0 } param { lr_mult: 0 } })");
  EXPECT_EQ((vector<bool>{false, false, false}),
            this->net_->layer_need_backward());
}

TYPED_TEST(NetBackwardTest, LayersWithoutALossBehindThemAreSkipped) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y' }
    layer { name: 'c' type: 'Affine' bottom: 'a' top: 'c' }
    layer { name: 'd' type: 'Affine' bottom: 'c' top: 'd' })");
  EXPECT_TRUE(this->NeedsBackward("a"));
  EXPECT_TRUE(this->NeedsBackward("a_a_0_split"));
  EXPECT_TRUE(this->NeedsBackward("b"));
  EXPECT_FALSE(this->NeedsBackward("c"));
  EXPECT_EQ(vector<bool>{false}, this->BottomsNeedBackward("c"));
  EXPECT_FALSE(this->NeedsBackward("d"));
  this->net_->ForwardBackward();
  EXPECT_EQ(-3, this->ParamDiff("a", 0));
  EXPECT_EQ(0, this->ParamDiff("c", 0));
}

TYPED_TEST(NetBackwardTest, ALossOfWeightZeroIsNone) {
  typedef typename TypeParam::Dtype Dtype;
  this->net_ = MakeNet<Dtype>(R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'target'
            input_param { shape { dim: 1 dim: 1 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y' }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target'
            top: 'loss' loss_weight: 0 })");
  EXPECT_EQ((vector<bool>{false, false, false}),
            this->net_->layer_need_backward());
  Set<Dtype>({3}, this->net_->input_blobs()[0]);
  EXPECT_EQ(0, this->net_->ForwardBackward());
  EXPECT_EQ(Dtype(4.5), this->net_->output_blobs()[0]->cpu_data()[0]);
}

TYPED_TEST(NetBackwardTest, PropagateDownFalseStopsGradients) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y'
            propagate_down: false })");
  EXPECT_FALSE(this->NeedsBackward("a"));
  EXPECT_TRUE(this->NeedsBackward("b"));
  EXPECT_EQ(vector<bool>{false}, this->BottomsNeedBackward("b"));
}

TYPED_TEST(NetBackwardTest, PropagateDownFalseStopsOneReaderOnly) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'y' }
    layer { name: 'c' type: 'Affine' bottom: 'a' top: 'c' loss_weight: 7
            propagate_down: false })");
  EXPECT_TRUE(this->NeedsBackward("a"));
  EXPECT_TRUE(this->NeedsBackward("c"));
  this->net_->ForwardBackward();
  EXPECT_EQ(-3, this->ParamDiff("a", 0));
  EXPECT_EQ(21, this->ParamDiff("c", 0));
}

TYPED_TEST(NetBackwardTest, PropagateDownTrueAsksForTheGradientsOfAnInput) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y' propagate_down: true
            power_param { scale: 2 } })");
  EXPECT_EQ(vector<bool>{true}, this->BottomsNeedBackward("a"));
  this->net_->ForwardBackward();
  EXPECT_EQ(4, this->net_->blob_by_name("x")->cpu_diff()[0]);
}

TYPED_TEST(NetBackwardTest, ForceBackwardGivesInputsGradients) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            param { lr_mult: 0 } param { lr_mult: 0 }
            power_param { scale: 2 } })",
             "force_backward: true");
  EXPECT_TRUE(this->NeedsBackward("in"));
  EXPECT_TRUE(this->NeedsBackward("a"));
  EXPECT_EQ(vector<bool>{true}, this->BottomsNeedBackward("a"));
  EXPECT_TRUE(this->net_->layer_by_name("a")->param_propagate_down(0));
  this->net_->ForwardBackward();
  EXPECT_EQ(4, this->net_->blob_by_name("x")->cpu_diff()[0]);
  EXPECT_EQ(6, this->ParamDiff("a", 0));
}

TYPED_TEST(NetBackwardTest, ForceBackwardRespectsLayersThatCannot) {
  typedef typename TypeParam::Dtype Dtype;
  const auto net = MakeNet<Dtype>(R"(
    force_backward: true
    layer { name: 'in' type: 'Input' top: 'x' top: 'label'
            input_param { shape { dim: 1 dim: 2 } shape { dim: 1 } } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'label'
          })");
  EXPECT_EQ((vector<bool>{true, false}), net->bottom_need_backward()[1]);
  net->ForwardBackward();
  EXPECT_EQ((vector<Dtype>{-0.5, 0.5}), DiffOf(*net->input_blobs()[0]));
}

TYPED_TEST(NetBackwardTest, InPlaceLayersPassGradientsOn) {
  this->Make(R"(
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
            power_param { scale: 2 } }
    layer { name: 'b' type: 'Affine' bottom: 'y' top: 'y'
            param { lr_mult: 0 } power_param { scale: 5 shift: -20 } })");
  EXPECT_EQ(18, this->net_->ForwardBackward());
  // Only the offsets: b has overwritten what its weight's gradient needs.
  EXPECT_EQ(6, this->ParamDiff("b", 1));
  EXPECT_EQ(90, this->ParamDiff("a", 0));
}

// Real layers, a blob with two readers, an in-place layer, shared weights and
// two losses: every gradient against central differences of the loss.
TYPED_TEST(NetBackwardTest, GradientsOfAWholeNet) {
  typedef typename TypeParam::Dtype Dtype;
  Caffe::set_random_seed(1701);
  const string weights =
      "num_output: 5 weight_filler { type: 'gaussian' std: 0.5 } "
      "bias_filler { type: 'gaussian' }";
  const auto net = MakeNet<Dtype>(R"(
    force_backward: true
    layer { name: 'in' type: 'Input' top: 'x' top: 'label' input_param {
            shape { dim: 3 dim: 5 } shape { dim: 3 } } }
    layer { name: 'ip1' type: 'InnerProduct' bottom: 'x' top: 'h'
            param { name: 'w' } inner_product_param { )" +
                                  weights + R"( } }
    layer { name: 'relu' type: 'ReLU' bottom: 'h' top: 'h'
            relu_param { negative_slope: 0.3 } }
    layer { name: 'ip2' type: 'InnerProduct' bottom: 'h' top: 'scores'
            param { name: 'w' } inner_product_param { )" +
                                  weights + R"( } }
    layer { name: 'ip3' type: 'InnerProduct' bottom: 'h' top: 'y'
            inner_product_param { )" +
                                  weights + R"( } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
            bottom: 'label' top: 'loss' }
    layer { name: 'side_loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'x'
            top: 'side_loss' loss_weight: 0.4 })");
  Blob<Dtype>* const x = net->input_blobs()[0];
  GaussianFiller<Dtype>(FillerParameter()).Fill(x);
  Set<Dtype>({4, 0, 2}, net->input_blobs()[1]);
  net->ClearParamDiffs();
  net->ForwardBackward();

  vector<Blob<Dtype>*> blobs = net->learnable_params();
  ASSERT_EQ(5u, blobs.size());
  blobs.push_back(x);
  const bool is_double = sizeof(Dtype) == sizeof(double);
  const Dtype step = is_double ? 1e-5 : 1e-3;
  const double tolerance = is_double ? 1e-7 : 5e-3;
  for (size_t b = 0; b < blobs.size(); ++b) {
    const vector<Dtype> gradients = DiffOf(*blobs[b]);
    for (int i = 0; i < blobs[b]->count(); ++i) {
      Dtype* const value = blobs[b]->mutable_cpu_data() + i;
      const Dtype was = *value;
      Dtype above, below;
      *value = was + step;
      net->Forward(&above);
      *value = was - step;
      net->Forward(&below);
      *value = was;
      EXPECT_NEAR((above - below) / (2 * step), gradients[i], tolerance)
          << "blob " << b << ", value " << i;
    }
  }
}

}  // namespace caffe
