#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "caffe/compress/activation_store.hpp"
#include "caffe/compress/stretches.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "net_test_util.hpp"

// Layers that run over parts of the batch compute what they compute over all of
// it, in less memory.

namespace caffe {

namespace {

// 8 images; a tensor of 4 channels has 32 KB, one of 8 has 64 KB.
constexpr const char* kData = R"(
  state { phase: TRAIN } force_backward: true
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 8 } data_filler { value: 2 } } } )";

constexpr const char* kLoss = R"(
  layer { name: 'scores' type: 'InnerProduct' bottom: 'last' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
          bottom: 'label' top: 'loss' } )";

string Convolution(const string& name, const string& bottom) {
  return "layer { name: '" + name + "' type: 'Convolution' bottom: '" + bottom +
         "' top: '" + name +
         "' convolution_param { num_output: 8 kernel_size: 3 pad: 1 "
         "weight_filler { type: 'xavier' } } } ";
}
string Relu(const string& blob) {
  return "layer { name: 'relu_" + blob + "' type: 'ReLU' bottom: '" + blob +
         "' top: '" + blob + "' } ";
}
string Pool(const string& name, const string& bottom) {
  return "layer { name: '" + name + "' type: 'Pooling' bottom: '" + bottom +
         "' top: '" + name + "' pooling_param { kernel_size: 3 stride: 2 } } ";
}
string Lrn(const string& name, const string& bottom) {
  return "layer { name: '" + name + "' type: 'LRN' bottom: '" + bottom +
         "' top: '" + name + "' } ";
}

// As AlexNet begins: one stretch, with blobs of every role in it.
string Chain() {
  return Convolution("conv1", "data") + Relu("conv1") + Lrn("norm1", "conv1") +
         Convolution("conv2", "norm1") + Relu("conv2") + Pool("last", "conv2");
}

// Branches that split, join and normalise batches: many stretches.
string Residual() {
  return Convolution("conv1", "data") +
         "layer { name: 'bn' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' } "
         "layer { name: 'scale' type: 'Scale' bottom: 'conv1' top: 'conv1' "
         "        scale_param { bias_term: true } } " +
         Relu("conv1") + Convolution("left", "conv1") + Relu("left") +
         Convolution("left2", "left") + Convolution("right", "conv1") +
         "layer { name: 'sum' type: 'Eltwise' bottom: 'left2' "
         "        bottom: 'right' top: 'sum' } " +
         Relu("sum") + Convolution("a", "sum") + Convolution("b", "sum") +
         "layer { name: 'both' type: 'Concat' bottom: 'a' bottom: 'b' "
         "        top: 'both' } " +
         Pool("last", "both");
}

// A BatchNorm whose tensor is so large that it runs in parts, too.
string Normalised() {
  return Convolution("conv1", "data") +
         "layer { name: 'bn' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' } "
         "layer { name: 'scale' type: 'Scale' bottom: 'conv1' top: 'conv1' "
         "        scale_param { bias_term: true } } " +
         Relu("conv1") + Pool("last", "conv1");
}

// Layers that the others leave out.
string Others() {
  return "layer { name: 'up' type: 'Deconvolution' bottom: 'data' top: 'up' "
         "        convolution_param { num_output: 8 kernel_size: 2 stride: 2 "
         "        weight_filler { type: 'xavier' } } } "
         "layer { name: 'leaky' type: 'ReLU' bottom: 'up' top: 'leaky' "
         "        relu_param { negative_slope: 0.1 } } "
         "layer { name: 'product' type: 'Eltwise' bottom: 'up' "
         "        bottom: 'leaky' top: 'product' "
         "        eltwise_param { operation: PROD } } "
         "layer { name: 'norm' type: 'LRN' bottom: 'product' top: 'norm' "
         "        lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 } } "
         "layer { name: 'last' type: 'Pooling' bottom: 'norm' top: 'last' "
         "        pooling_param { pool: AVE kernel_size: 2 stride: 2 } } ";
}

string Neuron(const string& type, const string& bottom, const string& top,
              const string& settings = "") {
  return "layer { name: '" + type + "_" + top + "' type: '" + type +
         "' bottom: '" + bottom + "' top: '" + top + "' " + settings + " } ";
}

// Functions of every value, in place and not.
string Neurons() {
  return Convolution("conv1", "data") +
         Neuron("ELU", "conv1", "conv1", "elu_param { alpha: 0.5 }") +
         Neuron("Swish", "conv1", "conv1") + Neuron("Swish", "conv1", "swish") +
         Neuron("BNLL", "swish", "swish") + Neuron("TanH", "swish", "tanh") +
         Convolution("conv2", "tanh") + Neuron("ELU", "conv2", "elu") +
         Neuron("Sigmoid", "elu", "elu") + Pool("last", "elu");
}

// And those with kinks, poles and parameters.
string OtherNeurons() {
  return Convolution("conv1", "data") + Neuron("PReLU", "conv1", "conv1") +
         Neuron("AbsVal", "conv1", "abs") +
         Neuron("Log", "abs", "log", "log_param { shift: 1 }") +
         Neuron("Exp", "log", "exp", "exp_param { base: 2 scale: 0.5 }") +
         Neuron("Power", "exp", "exp", "power_param { power: 3 shift: -1 }") +
         Convolution("conv2", "exp") + Neuron("PReLU", "conv2", "prelu") +
         Neuron("Clip", "prelu", "prelu", "clip_param { min: -1 max: 0.5 }") +
         Neuron("Threshold", "data", "step") +
         "layer { name: 'both' type: 'Concat' bottom: 'prelu' bottom: 'step' "
         "        top: 'both' } " +
         Pool("last", "both");
}

// Layers that cut, repeat and lay out images.
string Rearranging() {
  return Convolution("conv1", "data") +
         "layer { name: 'mvn' type: 'MVN' bottom: 'conv1' top: 'mvn' } "
         "layer { name: 'mvn2' type: 'MVN' bottom: 'mvn' top: 'mvn' "
         "        mvn_param { across_channels: true } } "
         "layer { name: 'small' type: 'Pooling' bottom: 'data' top: 'small' "
         "        pooling_param { kernel_size: 3 } } "
         "layer { name: 'crop' type: 'Crop' bottom: 'mvn' bottom: 'small' "
         "        top: 'crop' crop_param { offset: 1 } } "
         "layer { name: 'tile' type: 'Tile' bottom: 'crop' top: 'tile' "
         "        tile_param { tiles: 2 } } "
         "layer { name: 'im2col' type: 'Im2col' bottom: 'tile' top: 'im2col' "
         "        convolution_param { kernel_size: 2 stride: 2 } } "
         "layer { name: 'last' type: 'SPP' bottom: 'im2col' top: 'last' "
         "        spp_param { pyramid_height: 2 } } ";
}

// Layers that make numbers of images, and images of numbers.
string Summing() {
  return Convolution("conv1", "data") +
         "layer { name: 'squares' type: 'Reduction' bottom: 'conv1' "
         "        top: 'squares' "
         "        reduction_param { axis: 2 operation: SUMSQ } } "
         "layer { name: 'embed' type: 'Embed' bottom: 'label' top: 'embed' "
         "        embed_param { input_dim: 5 num_output: 512 "
         "        weight_filler { type: 'xavier' } } } "
         "layer { name: 'argmax' type: 'ArgMax' bottom: 'embed' top: 'argmax' "
         "        propagate_down: false "
         "        argmax_param { axis: 1 top_k: 3 out_max_val: true } } "
         "layer { name: 'last' type: 'Concat' bottom: 'squares' "
         "        bottom: 'embed' bottom: 'argmax' top: 'last' } ";
}

// Packs everything so that nothing is lost.
class Lossless : public PackingPolicy {
 public:
  Packing Choose(const PackRequest& request) override {
    ++requests[request.name];
    return {&codec::FindCodec("lossless"), {}};
  }
  std::map<string, int> requests;
};

struct Trained {
  std::unique_ptr<Net<float>> net;
  shared_ptr<ActivationStore<float>> store;
  shared_ptr<Lossless> policy = boost::make_shared<Lossless>();
  float loss = 0;
};

// After some passes forward and backward.
Trained TrainOn(const string& layers, size_t largest, int passes = 2) {
  Caffe::set_random_seed(3);
  Trained run;
  run.net = MakeNet<float>(kData + layers + kLoss);
  run.store = ActivationStore<float>::Attach(
      run.net.get(), boost::make_shared<ActivationMemory>(), run.policy,
      {.largest_tensor = largest});
  for (int i = 0; i < passes; ++i) {
    run.net->ClearParamDiffs();
    run.loss = run.net->ForwardBackward();
  }
  return run;
}

void ExpectSameGradients(const Trained& expected, const Trained& found) {
  EXPECT_FLOAT_EQ(expected.loss, found.loss);
  const auto& params = expected.net->learnable_params();
  for (size_t i = 0; i < params.size(); ++i) {
    const vector<float> a = DiffOf(*params[i]);
    const vector<float> b = DiffOf(*found.net->learnable_params()[i]);
    float largest = 0;
    for (const float value : a) largest = std::max(largest, std::abs(value));
    for (size_t k = 0; k < a.size(); ++k) {
      // What should be zero is not quite.
      ASSERT_NEAR(a[k], b[k], 1e-5 * largest + 1e-6) << "parameter " << i;
    }
  }
}

TEST(BatchPartsTest, FindsLayersWithLargeTensors) {
  const auto net = MakeNet<float>(kData + Chain() + kLoss);
  EXPECT_TRUE(FindStretches(*net, 64 << 10).empty());
  // From conv1, the first with a tensor of 64 KB, to the pooling after conv2.
  EXPECT_EQ((vector<Stretch>{{2, 7, 2}}), FindStretches(*net, 32 << 10));
  EXPECT_EQ((vector<Stretch>{{2, 7, 4}}), FindStretches(*net, 20 << 10));
  EXPECT_EQ((vector<Stretch>{{2, 7, 8}}), FindStretches(*net, 1));
}

TEST(BatchPartsTest, StretchesEndWhereBatchesAreNormalised) {
  const auto net = MakeNet<float>(kData + Residual() + kLoss);
  const vector<Stretch> stretches = FindStretches(*net, 40 << 10);
  ASSERT_FALSE(stretches.empty());
  for (const Stretch& stretch : stretches) {
    for (int i = stretch.first; i <= stretch.last; ++i) {
      const string type = net->layers()[i]->type();
      EXPECT_NE("BatchNorm", type);
      EXPECT_NE("Split", type);
    }
  }
}

TEST(BatchPartsTest, LargeBatchesAreNormalisedInParts) {
  const auto net = MakeNet<float>(kData + Normalised() + kLoss);
  EXPECT_EQ((vector<Stretch>{{2, 2, 2}, {5, 6, 2}}),
            FindStretches(*net, 40 << 10));
  // The BatchNorm, which is layer 3, up to the pooling.
  EXPECT_EQ((vector<Stretch>{{2, 2, 8}, {3, 6, 8}}),
            FindStretches(*net, 9 << 10));
}

TEST(BatchPartsTest, ABatchNormInPartsHasTheBitsOfAWholeOne) {
  const auto averages = [](const Trained& run) {
    vector<float> values;
    for (const auto& blob : run.net->layer_by_name("bn")->blobs()) {
      for (const float value : DataOf(*blob)) values.push_back(value);
    }
    return values;
  };
  const Trained whole = TrainOn(Normalised(), SIZE_MAX);
  const Trained parts = TrainOn(Normalised(), 9 << 10);
  EXPECT_EQ(averages(whole), averages(parts));
  EXPECT_EQ(whole.loss, parts.loss);
  // Two of BatchNorm's and Scale's tensors as a whole, or one.
  EXPECT_LT(parts.store->memory().raw.peak(),
            0.8 * static_cast<double>(whole.store->memory().raw.peak()));
  // One copy serves both.
  std::set<string> names;
  for (const ActivationReport& report : parts.store->Reports()) {
    names.insert(report.name);
  }
  EXPECT_EQ(1, names.count("bn.x_norm"));
  EXPECT_EQ(0, names.count("scale.kept_bottom"));
}

TEST(BatchPartsTest, ABatchNormWorksOnWholeBatchesAfterParts) {
  const Trained whole = TrainOn(Normalised(), SIZE_MAX, 1);
  const Trained parts = TrainOn(Normalised(), 9 << 10, 1);
  for (const Trained* run : {&whole, &parts}) {
    Caffe::set_random_seed(7);
    run->net->ClearParamDiffs();
    // Not the whole stretch, so not in parts.
    run->net->ForwardFromTo(0, 3);
    run->net->ForwardFromTo(4, static_cast<int>(run->net->layers().size()) - 1);
    run->net->Backward();
  }
  ExpectSameGradients(whole, parts);
}

TEST(BatchPartsTest, PartsGiveTheSameGradients) {
  for (const string& layers :
       {Chain(), Residual(), Normalised(), Others(), Neurons(), OtherNeurons(),
        Rearranging(), Summing()}) {
    const Trained whole = TrainOn(layers, SIZE_MAX);
    for (const size_t largest : {40 << 10, 9 << 10}) {
      const Trained parts = TrainOn(layers, largest);
      ExpectSameGradients(whole, parts);
      EXPECT_LE(parts.store->memory().raw.peak(),
                whole.store->memory().raw.peak());
      EXPECT_EQ(0, parts.store->memory().raw.used());
      EXPECT_EQ(0, parts.store->memory().packing.frames().used());
    }
  }
}

TEST(BatchPartsTest, EveryPartIsPackedOnce) {
  const Trained run = TrainOn(Chain(), 32 << 10, 1);
  EXPECT_EQ((std::map<string, int>{
                {"conv1", 2}, {"data", 2}, {"last", 1}, {"norm1", 2}}),
            run.policy->requests);
}

TEST(BatchPartsTest, PartsTakeLessMemory) {
  const auto peak = [](size_t largest) {
    return TrainOn(Chain(), largest).store->memory().raw.peak();
  };
  EXPECT_LT(2 * peak(8 << 10), peak(SIZE_MAX));
}

TEST(BatchPartsTest, WholeBlobsCanBeReadAfterForward) {
  const Trained whole = TrainOn(Chain(), SIZE_MAX, 0);
  const Trained parts = TrainOn(Chain(), 16 << 10, 0);
  for (const Trained* run : {&whole, &parts}) {
    Caffe::set_random_seed(7);
    run->net->Forward();
  }
  for (const char* name : {"data", "conv1", "norm1", "last"}) {
    EXPECT_EQ(DataOf(*whole.net->blob_by_name(name)),
              DataOf(*parts.net->blob_by_name(name)))
        << name;
  }
  EXPECT_EQ(whole.net->blob_by_name("conv2")->shape(),
            parts.net->blob_by_name("conv2")->shape());
  EXPECT_THROW(parts.net->blob_by_name("conv2")->cpu_data(), Error);
  // Reading does not keep Backward from working.
  for (const Trained* run : {&whole, &parts}) {
    run->net->ClearParamDiffs();
    run->net->Backward();
  }
  ExpectSameGradients(whole, parts);
}

TEST(BatchPartsTest, HalfAStretchCannotGoBackward) {
  const Trained run = TrainOn(Chain(), 16 << 10, 0);
  run.net->Forward();
  const int last = static_cast<int>(run.net->layers().size()) - 1;
  run.net->BackwardFromTo(last, 8);
  EXPECT_THROW(run.net->BackwardFromTo(7, 4), Error);
  run.net->BackwardFromTo(7, 0);
}

// Counts the layers it is called for.
class Counter : public Net<float>::Callback {
 public:
  int calls = 0;

 protected:
  void run(int /*layer*/) override { ++calls; }
};

TEST(BatchPartsTest, OtherCallbacksSeeWholeBatches) {
  const Trained whole = TrainOn(Chain(), SIZE_MAX, 0);
  const Trained parts = TrainOn(Chain(), 16 << 10, 0);
  Counter counter;
  parts.net->add_after_forward(&counter);
  Caffe::set_random_seed(7);
  whole.net->Forward();
  Caffe::set_random_seed(7);
  parts.net->Forward();
  EXPECT_EQ(static_cast<int>(parts.net->layers().size()), counter.calls);
  for (const Trained* run : {&whole, &parts}) {
    run->net->ClearParamDiffs();
    run->net->Backward();
  }
  ExpectSameGradients(whole, parts);
}

TEST(BatchPartsTest, BatchesMayChange) {
  const auto net_of = [](size_t largest) {
    Trained run;
    Caffe::set_random_seed(3);
    run.net = MakeNet<float>(
        "state { phase: TRAIN } "
        "layer { name: 'data' type: 'Input' top: 'data' top: 'label' "
        "        input_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 } "
        "                      shape { dim: 8 } } } " +
        Chain() + kLoss);
    run.store = ActivationStore<float>::Attach(
        run.net.get(), boost::make_shared<ActivationMemory>(), run.policy,
        {.largest_tensor = largest});
    return run;
  };
  const Trained whole = net_of(SIZE_MAX);
  const Trained parts = net_of(16 << 10);
  for (const int images : {8, 6, 7, 16}) {
    for (const Trained* run : {&whole, &parts}) {
      Blob<float>& data = *run->net->blob_by_name("data");
      data.Reshape({images, 4, 16, 16});
      run->net->blob_by_name("label")->Reshape({images});
      for (int i = 0; i < data.count(); ++i) {
        data.mutable_cpu_data()[i] = static_cast<float>(i * 31 % 97) / 50 - 1;
      }
      run->net->ClearParamDiffs();
      run->net->ForwardBackward();
    }
    ExpectSameGradients(whole, parts);
  }
}

}  // namespace

}  // namespace caffe
