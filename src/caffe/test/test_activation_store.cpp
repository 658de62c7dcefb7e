#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "caffe/compress/activation_store.hpp"
#include "caffe/layers/memory_data_layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "log_recorder.hpp"
#include "net_test_util.hpp"
#include "wrapped_codec.hpp"

// What the store does to single nets: which gradients change, and which must
// not.

namespace caffe {

namespace {

// Packs everything alike.
class OnePacking : public PackingPolicy {
 public:
  explicit OnePacking(const Packing& packing) : packing_(packing) {}
  Packing Choose(const PackRequest& request) override {
    requests.push_back(request.name);
    return packing_;
  }

  vector<string> requests;

 private:
  const Packing packing_;
};

shared_ptr<OnePacking> Lossy(codec::Rounding rounding) {
  return boost::make_shared<OnePacking>(
      Packing{&codec::FindCodec("sz"), {.bound = 0.2, .rounding = rounding}});
}

// Works like "raw" until it has had enough.
class FailingCodec : public WrappedCodec {
 public:
  explicit FailingCodec(int good_calls) : left_(good_calls) {}

  size_t Compress(const codec::ConstTensor& in, const codec::Settings& settings,
                  codec::Context& context,
                  std::span<uint8_t> out) const override {
    Require(left_-- > 0, "had enough");
    return WrappedCodec::Compress(in, settings, context, out);
  }

 private:
  mutable int left_;
};

constexpr const char* kData = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 8 } data_filler { value: 2 } } } )";

// Nothing but weights' gradients reads values that are packed here.
constexpr const char* kMasks = R"(
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'conv2' top: 'relu2'
          relu_param { negative_slope: 0.2 } }
  layer { name: 'pool' type: 'Pooling' bottom: 'relu2' top: 'pool'
          pooling_param { kernel_size: 3 stride: 1 } }
  layer { name: 'drop' type: 'Dropout' bottom: 'pool' top: 'drop' }
  layer { name: 'conv3' type: 'Convolution' bottom: 'drop' top: 'conv3'
          convolution_param { num_output: 8 kernel_size: 3
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu3' type: 'ReLU' bottom: 'conv3' top: 'conv3' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'conv3' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
          bottom: 'label' top: 'loss' } )";

struct Finished {
  std::unique_ptr<Net<float>> net;
  shared_ptr<ActivationStore<float>> store;
};

// The gradients of a net with that policy; without a store if it is empty.
Finished ForwardBackward(const string& layers,
                         const shared_ptr<PackingPolicy>& policy,
                         bool with_store = true) {
  Caffe::set_random_seed(3);
  Finished run;
  run.net = MakeNet<float>("state { phase: TRAIN } " + string(kData) + layers);
  if (with_store) {
    run.store = ActivationStore<float>::Attach(
        run.net.get(), boost::make_shared<ActivationMemory>(), policy);
  }
  run.net->ClearParamDiffs();
  run.net->ForwardBackward();
  return run;
}

TEST(ActivationStoreTest, MasksAreExactUnderLossyValues) {
  const Finished raw = ForwardBackward(kMasks, nullptr, false);
  for (const codec::Rounding rounding :
       {codec::Rounding::kNearest, codec::Rounding::kDither}) {
    const Finished lossy = ForwardBackward(kMasks, Lossy(rounding));
    const auto& expected = raw.net->learnable_params();
    const auto& found = lossy.net->learnable_params();
    int changed = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const bool is_bias = i % 2 == 1;
      if (is_bias) {
        EXPECT_EQ(DiffOf(*expected[i]), DiffOf(*found[i])) << "parameter " << i;
      } else {
        changed += DiffOf(*expected[i]) != DiffOf(*found[i]);
      }
    }
    EXPECT_EQ(4, changed);
  }
}

TEST(ActivationStoreTest, AsksOnlyForWhatIsReadAsValues) {
  const auto policy = Lossy(codec::Rounding::kDither);
  ForwardBackward(kMasks, policy);
  std::sort(policy->requests.begin(), policy->requests.end());
  EXPECT_EQ((vector<string>{"conv1", "conv3", "data", "drop"}),
            policy->requests);
}

TEST(ActivationStoreTest, ReportsWhatBecameOfEveryTensor) {
  const Finished run = ForwardBackward(kMasks, Lossy(codec::Rounding::kDither));
  std::map<string, string> kept;
  for (const ActivationReport& report : run.store->Reports()) {
    kept[report.name] = report.kept;
    if (report.kept == "packed") {
      EXPECT_GT(report.raw_bytes, 3 * report.kept_bytes) << report.name;
    }
  }
  EXPECT_EQ((std::map<string, string>{{"data", "packed"},
                                      {"conv1", "packed"},
                                      {"conv2", "dropped"},
                                      {"relu2", "mask"},
                                      {"pool", "dropped"},
                                      {"pool.positions", "raw"},
                                      {"drop", "packed"},
                                      {"conv3", "packed"},
                                      {"scores", "dropped"}}),
            kept);
}

TEST(ActivationStoreTest, MeasuresErrorsWhenAsked) {
  const Finished raw = ForwardBackward(kMasks, nullptr, false);
  Packing packing{&codec::FindCodec("sz"), {.bound = 0.2}};
  const Finished unasked =
      ForwardBackward(kMasks, boost::make_shared<OnePacking>(packing));
  packing.is_checked = true;
  const Finished run =
      ForwardBackward(kMasks, boost::make_shared<OnePacking>(packing));
  for (const ActivationReport& report : unasked.store->Reports()) {
    EXPECT_EQ(-1, report.worst) << report.name;
  }
  Caffe::set_random_seed(5);
  run.net->Forward();
  std::map<string, double> worst;
  for (const ActivationReport& report : run.store->Reports()) {
    worst[report.name] = report.worst;
  }
  EXPECT_EQ(-1, worst["relu2"]);
  Caffe::set_random_seed(5);
  raw.net->Forward();
  const vector<float> exact = DataOf(*raw.net->blob_by_name("conv3"));
  const vector<float> restored = DataOf(*run.net->blob_by_name("conv3"));
  float largest = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::abs(exact[i] - restored[i]));
  }
  // It may have been the pass before, which had other values.
  EXPECT_GE(worst["conv3"], largest / 0.2 - 1e-6);
  EXPECT_LE(worst["conv3"], 1);
  EXPECT_GT(largest, 0.1);
}

// A Backward with exact values before the one with packed values.
TEST(ActivationStoreTest, RehearsesBackwardWithExactValues) {
  const auto gradients = [](const Net<float>& net) {
    vector<vector<float>> all;
    for (const Blob<float>* param : net.learnable_params()) {
      all.push_back(DiffOf(*param));
    }
    return all;
  };
  Packing packing{&codec::FindCodec("sz"), {.bound = 0.2}};
  const auto exact = gradients(*ForwardBackward(kMasks, nullptr, false).net);
  const auto lossy = gradients(
      *ForwardBackward(kMasks, boost::make_shared<OnePacking>(packing)).net);
  EXPECT_NE(exact, lossy);

  packing.keeps_exact = true;
  const Finished run =
      ForwardBackward(kMasks, boost::make_shared<OnePacking>(packing));
  EXPECT_EQ(lossy, gradients(*run.net));
  // The same net, the same data.
  Caffe::set_random_seed(3);
  MakeNet<float>("state { phase: TRAIN } " + string(kData) + kMasks);
  run.net->Forward();
  for (const bool on : {true, true, false}) {
    run.store->set_rehearsal(on);
    run.net->ClearParamDiffs();
    run.net->Backward();
    EXPECT_EQ(on ? exact : lossy, gradients(*run.net));
  }
  EXPECT_EQ(0, run.store->memory().raw.used());
  EXPECT_EQ(0, run.store->memory().packing.frames().used());
}

TEST(ActivationStoreTest, ACodecThatFailsLeavesTheTensorAsItIs) {
  const Finished raw = ForwardBackward(kMasks, nullptr, false);
  const FailingCodec codec(2);
  LogRecorder log;
  const Finished run = ForwardBackward(
      kMasks, boost::make_shared<OnePacking>(Packing{&codec, {}}));
  for (size_t i = 0; i < raw.net->learnable_params().size(); ++i) {
    EXPECT_EQ(DiffOf(*raw.net->learnable_params()[i]),
              DiffOf(*run.net->learnable_params()[i]));
  }
  EXPECT_TRUE(log.Has("cannot pack drop, which stays as it is: had enough"));
}

// A layer that says nothing of what it reads, between ones that do, in place
// and not, behind a split.
constexpr const char* kUndeclared = R"(
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          param { lr_mult: 0 } param { lr_mult: 1 }
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'own' type: 'Affine' bottom: 'conv1' top: 'own'
          power_param { scale: 0.7 } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'own' top: 'own' }
  layer { name: 'sum' type: 'Eltwise' bottom: 'own' bottom: 'conv1'
          top: 'sum' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'sum' top: 'scores'
          param { lr_mult: 0 } param { lr_mult: 0 }
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
          bottom: 'label' top: 'loss' } )";

TEST(ActivationStoreTest, LayersThatSayNothingAreLeftAlone) {
  const Finished raw = ForwardBackward(kUndeclared, nullptr, false);
  const Finished run =
      ForwardBackward(kUndeclared, Lossy(codec::Rounding::kDither));
  for (size_t i = 0; i < raw.net->learnable_params().size(); ++i) {
    EXPECT_EQ(DiffOf(*raw.net->learnable_params()[i]),
              DiffOf(*run.net->learnable_params()[i]))
        << "parameter " << i;
  }
  // And so is what they touch.
  EXPECT_EQ(DataOf(*raw.net->blob_by_name("own")),
            DataOf(*run.net->blob_by_name("own")));
  EXPECT_EQ(DiffOf(*raw.net->blob_by_name("own")),
            DiffOf(*run.net->blob_by_name("own")));
}

// Data layers point their tops to memory of their own.
TEST(ActivationStoreTest, PacksDataWithoutTouchingWhoseItIs) {
  constexpr const char* kMemory = R"(
    state { phase: TRAIN }
    layer { name: 'data' type: 'MemoryData' top: 'data' top: 'label'
            memory_data_param { batch_size: 8 channels: 4 height: 16
                                width: 16 } } )";
  vector<float> images(2 * 8 * 4 * 16 * 16);
  vector<float> labels(2 * 8, 1);
  caffe_rng_gaussian<float>(static_cast<int>(images.size()), 0, 1,
                            images.data());
  const vector<float> before = images;
  const auto net = MakeNet<float>(string(kMemory) + kMasks);
  const auto policy = Lossy(codec::Rounding::kDither);
  ActivationStore<float>::Attach(
      net.get(), boost::make_shared<ActivationMemory>(), policy);
  dynamic_cast<MemoryDataLayer<float>&>(*net->layers()[0])
      .Reset(images.data(), labels.data(), 16);
  for (int i = 0; i < 3; ++i) {
    net->Forward();
    EXPECT_TRUE(net->blob_by_name("data")->data()->is_evicted());
    net->Backward();
  }
  EXPECT_EQ(before, images);
  EXPECT_EQ("data", policy->requests[0]);
}

// Nothing below learns, so only the Scale reads what both layers keep.
TEST(ActivationStoreTest, KeepsTheCopyOfALayerThatIsNotRunBackward) {
  constexpr const char* kNormalizedData = R"(
    layer { name: 'bn' type: 'BatchNorm' bottom: 'data' top: 'data' }
    layer { name: 'scale' type: 'Scale' bottom: 'data' top: 'data' }
    layer { name: 'scores' type: 'InnerProduct' bottom: 'data' top: 'scores'
            inner_product_param { num_output: 5
                                  weight_filler { type: 'xavier' } } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
            bottom: 'label' top: 'loss' } )";
  const Finished raw = ForwardBackward(kNormalizedData, nullptr, false);
  const Finished run =
      ForwardBackward(kNormalizedData, boost::make_shared<OnePacking>(Packing{
                                           &codec::FindCodec("lossless"), {}}));
  for (size_t i = 0; i < raw.net->learnable_params().size(); ++i) {
    EXPECT_EQ(DiffOf(*raw.net->learnable_params()[i]),
              DiffOf(*run.net->learnable_params()[i]))
        << "parameter " << i;
  }
}

TEST(ActivationStoreTest, BackwardNeedsAForward) {
  const Finished run = ForwardBackward(kMasks, Lossy(codec::Rounding::kDither));
  EXPECT_THROW(run.net->Backward(), Error);
  run.net->ForwardBackward();
}

TEST(ActivationStoreTest, ShapesMayChangeBetweenPasses) {
  constexpr const char* kInput = R"(
    state { phase: TRAIN } force_backward: true
    layer { name: 'in' type: 'Input' top: 'data'
            input_param { shape { dim: 4 dim: 4 dim: 16 dim: 16 } } }
    layer { name: 'label' type: 'Input' top: 'label'
            input_param { shape { dim: 4 } } } )";
  const auto gradients = [&](bool with_store) {
    Caffe::set_random_seed(3);
    const auto net = MakeNet<float>(string(kInput) + kMasks);
    if (with_store) {
      ActivationStore<float>::Attach(net.get(),
                                     boost::make_shared<ActivationMemory>(),
                                     boost::make_shared<OnePacking>(Packing{
                                         &codec::FindCodec("lossless"), {}}));
    }
    vector<vector<float>> all;
    for (const int batch : {4, 9, 2, 9}) {
      net->blob_by_name("data")->Reshape(batch, 4, 16, 16);
      net->blob_by_name("label")->Reshape({batch});
      net->Reshape();
      caffe_rng_gaussian<float>(net->blob_by_name("data")->count(), 0, 1,
                                net->blob_by_name("data")->mutable_cpu_data());
      net->ClearParamDiffs();
      net->ForwardBackward();
      for (const Blob<float>* param : net->learnable_params()) {
        all.push_back(DiffOf(*param));
      }
    }
    return all;
  };
  EXPECT_EQ(gradients(false), gradients(true));
}

TEST(ActivationStoreTest, BlobsThatOutliveTheNetSayThatTheirValuesAreGone) {
  shared_ptr<Blob<float>> blob;
  {
    const Finished run =
        ForwardBackward(kMasks, Lossy(codec::Rounding::kDither));
    blob = run.net->blob_by_name("conv2");
  }
  EXPECT_THROW(blob->cpu_data(), Error);
}

}  // namespace

}  // namespace caffe
