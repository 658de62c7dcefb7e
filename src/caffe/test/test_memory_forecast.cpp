#include "caffe/compress/memory_forecast.hpp"

#include <map>
#include <memory>
#include <string>

#include "caffe/compress/activation_store.hpp"
#include "caffe/memory/ledger.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "net_test_util.hpp"
#include "solvers/backward_updates.hpp"

// Forecasts, against what nets then take.

namespace caffe {

namespace {

constexpr const char* kNet = R"(
  state { phase: TRAIN }
  layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
          dummy_data_param {
            shape { dim: 8 dim: 3 dim: 24 dim: 24 } shape { dim: 8 }
            data_filler { type: 'gaussian' }
            data_filler { type: 'uniform' max: 0.5 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 16 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 16 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'sum' type: 'Eltwise' bottom: 'conv1' bottom: 'conv2'
          top: 'sum' }
  layer { name: 'relu2' type: 'ReLU' bottom: 'sum' top: 'sum' }
  layer { name: 'pool' type: 'Pooling' bottom: 'sum' top: 'pool'
          pooling_param { kernel_size: 2 stride: 2 } }
  layer { name: 'conv3' type: 'Convolution' bottom: 'pool' top: 'conv3'
          convolution_param { num_output: 16 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'conv3' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' } )";

// Cells that are larger than their inputs.
string RecurrentNet(const string& type) {
  return R"(
    state { phase: TRAIN }
    layer { name: 'data' type: 'DummyData' top: 'x' top: 'cont' top: 'target'
            dummy_data_param {
              shape { dim: 10 dim: 32 dim: 8 } shape { dim: 10 dim: 32 }
              shape { dim: 10 dim: 32 dim: 64 }
              data_filler { type: 'gaussian' } data_filler { value: 1 }
              data_filler { type: 'gaussian' } } }
    layer { name: 'cell' type: ')" +
         type + R"(' bottom: 'x' bottom: 'cont' top: 'h'
            recurrent_param { num_output: 64
                              weight_filler { type: 'xavier' } } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'h' bottom: 'target'
            top: 'loss' } )";
}

class Sz : public PackingPolicy {
 public:
  Packing Choose(const PackRequest& /*request*/) override {
    return {&codec::FindCodec("sz"), {.bound = 0.05}};
  }
};

TensorForecast Find(const ActivationForecast& forecast, const string& name) {
  for (const TensorForecast& tensor : forecast.tensors) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

ForecastSettings SettingsFor(MemoryUse use, double ratio) {
  ForecastSettings settings;
  settings.use = use;
  settings.ratio = [ratio](const string&, const vector<int>&) { return ratio; };
  return settings;
}

}  // namespace

TEST(MemoryForecast, TellsWhatIsKept) {
  const auto net = MakeNet<float>(kNet);
  const size_t conv = 8 * 16 * 24 * 24 * sizeof(float);
  const auto planned =
      ForecastActivations(*net, SettingsFor(MemoryUse::kPlanned, 10));
  const auto compressed =
      ForecastActivations(*net, SettingsFor(MemoryUse::kCompressed, 10));
  EXPECT_EQ("raw", Find(planned, "conv1").kept);
  EXPECT_EQ("packed", Find(compressed, "conv1").kept);
  EXPECT_EQ(conv, Find(compressed, "conv1").raw_bytes);
  EXPECT_EQ((conv + 9) / 10, Find(compressed, "conv1").kept_bytes);
  EXPECT_EQ("packed", Find(compressed, "bn1.x_norm").kept);
  EXPECT_EQ("dropped", Find(planned, "conv2").kept);
  EXPECT_EQ("dropped", Find(compressed, "conv2").kept);
  EXPECT_EQ("mask", Find(planned, "sum").kept);
  EXPECT_EQ(conv / 32, Find(compressed, "sum").kept_bytes);
  EXPECT_EQ("raw", Find(compressed, "label").kept);
}

TEST(MemoryForecast, AgreesWithWhatTheStoreTakes) {
  for (const bool compresses : {false, true}) {
    const auto memory = boost::make_shared<ActivationMemory>();
    const auto net = MakeNet<float>(kNet);
    const auto policy = compresses ? boost::make_shared<Sz>() : nullptr;
    const auto store =
        ActivationStore<float>::Attach(net.get(), memory, policy);
    net->ForwardBackward();
    std::map<string, double> ratios;
    for (const ActivationReport& report : store->Reports()) {
      if (report.kept != "packed") continue;
      ratios[report.name] = static_cast<double>(report.raw_bytes) /
                            static_cast<double>(report.kept_bytes);
    }
    ForecastSettings settings;
    settings.use = compresses ? MemoryUse::kCompressed : MemoryUse::kPlanned;
    settings.ratio = [&](const string& name, const vector<int>&) {
      return ratios.at(name);
    };
    const auto forecast = ForecastActivations(*net, settings);
    const auto raw = static_cast<double>(memory->raw.peak());
    const auto packed = static_cast<double>(memory->packing.frames().peak());
    // Loss and labels are not in the arena.
    EXPECT_NEAR(raw, forecast.raw, 0.03 * raw) << compresses;
    EXPECT_NEAR(packed, forecast.packed, 0.05 * packed + 1024) << compresses;
  }
}

TEST(MemoryForecast, KnowsWhatIsInsideRecurrentLayers) {
  for (const string type : {"LSTM", "RNN"}) {
    for (const MemoryUse use : {MemoryUse::kEverything, MemoryUse::kPlanned}) {
      memory::Ledger& ledger = memory::Ledger::Get();
      const size_t before = memory::TotalOf(ledger.live());
      const auto net = MakeNet<float>(RecurrentNet(type));
      if (use == MemoryUse::kPlanned) {
        ActivationStore<float>::Attach(
            net.get(), boost::make_shared<ActivationMemory>(), nullptr);
      }
      ledger.ResetPeak();
      net->ForwardBackward();
      const auto taken =
          static_cast<double>(memory::TotalOf(ledger.peak()) - before);
      const auto forecast = ForecastActivations(*net, SettingsFor(use, 1));
      // Parameters and their gradients.
      EXPECT_NEAR(taken, forecast.total() + 2. * forecast.parameter_gradients,
                  0.05 * taken)
          << type << (use == MemoryUse::kPlanned ? ", planned" : "");
    }
  }
}

TEST(MemoryForecast, KnowsWhereParametersAreUpdated) {
  const auto net = MakeNet<float>(R"(
    layer { name: 'data' type: 'DummyData' top: 'data'
            dummy_data_param { shape { dim: 4 dim: 100 } } }
    layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1'
            inner_product_param { num_output: 200 } }
    layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2'
            inner_product_param { num_output: 300 } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip2' bottom: 'ip2'
            top: 'loss' } )");
  const auto memory = boost::make_shared<ActivationMemory>();
  const auto updates = BackwardUpdates<float>::Attach(
      net.get(), shared_ptr<memory::Arena>(memory, &memory->raw));
  ActivationStore<float>::Attach(net.get(), memory, nullptr);
  net->Forward();
  updates->RunBackward([](const ParamSlice<float>&) { return true; }, true);
  const auto taken = static_cast<double>(memory->raw.peak());
  // The gradient of ip2's weights, at least.
  EXPECT_GT(taken, 200 * 300 * sizeof(float));
  auto settings = SettingsFor(MemoryUse::kPlanned, 1);
  const auto after = ForecastActivations(*net, settings);
  EXPECT_EQ((100 * 200 + 200 + 200 * 300 + 300) * sizeof(float),
            after.parameter_gradients);
  settings.updates_in_backward = true;
  const auto during = ForecastActivations(*net, settings);
  EXPECT_NEAR(taken, during.raw, 0.03 * taken);
  EXPECT_EQ(0, during.parameter_gradients);
}

TEST(MemoryForecast, KnowsGradientsInSlices) {
  const auto net = MakeNet<float>(R"(
    layer { name: 'data' type: 'DummyData' top: 'data'
            dummy_data_param { shape { dim: 4 dim: 3000 } } }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
            inner_product_param { num_output: 1000 } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'ip'
            top: 'loss' } )");
  const auto memory = boost::make_shared<ActivationMemory>();
  const auto updates = BackwardUpdates<float>::Attach(
      net.get(), shared_ptr<memory::Arena>(memory, &memory->raw));
  ActivationStore<float>::Attach(net.get(), memory, nullptr);
  net->Forward();
  updates->RunBackward([](const ParamSlice<float>&) { return true; }, true);
  const auto taken = static_cast<double>(memory->raw.peak());
  EXPECT_LT(taken, 3000 * 1000 * sizeof(float) / 2);
  auto settings = SettingsFor(MemoryUse::kPlanned, 1);
  settings.updates_in_backward = true;
  EXPECT_NEAR(taken, ForecastActivations(*net, settings).raw, 0.03 * taken);
}

TEST(MemoryForecast, WithoutAPlanAgreesWithTheLedger) {
  const auto sum = [] {
    const memory::Sums live = memory::Ledger::Get().live();
    return static_cast<double>(
        live[static_cast<size_t>(memory::Kind::kActivations)] +
        live[static_cast<size_t>(memory::Kind::kGradients)] +
        live[static_cast<size_t>(memory::Kind::kOther)]);
  };
  const double before = sum();
  const auto net = MakeNet<float>(kNet);
  const double parameters = sum() - before;
  net->ForwardBackward();
  const double taken = sum() - before - parameters;
  const auto forecast =
      ForecastActivations(*net, SettingsFor(MemoryUse::kEverything, 1));
  EXPECT_NEAR(taken, forecast.total(), 0.03 * taken);
}

TEST(MemoryForecast, FollowsTheBatchAndTakesNoMemory) {
  const auto net = MakeNet<float>(kNet);
  const auto total = [&](MemoryUse use) {
    return static_cast<double>(
        ForecastActivations(*net, SettingsFor(use, 8)).total());
  };
  const double planned = total(MemoryUse::kPlanned);
  const double compressed = total(MemoryUse::kCompressed);
  const size_t live = memory::TotalOf(memory::Ledger::Get().live());
  for (Blob<float>* const blob : net->top_vecs()[0]) {
    vector<int> shape = blob->shape();
    shape[0] *= 100;
    blob->Reshape(shape);
  }
  net->Reshape();
  EXPECT_NEAR(100, total(MemoryUse::kPlanned) / planned, 1);
  // Layers run in parts then.
  EXPECT_LT(total(MemoryUse::kCompressed) / compressed, 95);
  EXPECT_GT(total(MemoryUse::kCompressed) / compressed, 20);
  // Constants of a few layers, such as a row of ones.
  EXPECT_NEAR(live, memory::TotalOf(memory::Ledger::Get().live()), 10000);
}

}  // namespace caffe
