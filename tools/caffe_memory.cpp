#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "caffe/compress/memory_forecast.hpp"
#include "caffe/compress/packed_history.hpp"
#include "caffe/memory/bytes.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "caffe_commands.hpp"
#include "memory_measurement.hpp"
#include "stand_in_data.hpp"
#include "tool.hpp"
#include "util/text_table.hpp"

namespace caffe {

namespace {

using memory::ReadableBytes;

constexpr MemoryUse kUses[] = {MemoryUse::kEverything, MemoryUse::kPlanned,
                               MemoryUse::kCompressed};

// Sums for one way to use memory, by what it is for.
struct PeakForecast {
  size_t parameters = 0;
  size_t parameter_gradients = 0;
  size_t optimizer = 0;
  size_t activations = 0;
  size_t packed = 0;
  size_t layers = 0;
  size_t data = 0;
  size_t workspace = 0;
  size_t program = 0;

  size_t total() const {
    return parameters + parameter_gradients + optimizer + activations + packed +
           layers + data + workspace + program;
  }
};

vector<int> ShapeFromFlag() {
  vector<int> shape;
  for (const string& extent : SplitAtCommas(FLAGS_shape)) {
    size_t used = 0;
    int value = 0;
    try {
      value = std::stoi(extent, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    Require(used == extent.size() && value > 0, "--shape must be numbers ",
            "separated by commas, such as 3,224,224, not '", FLAGS_shape, "'");
    shape.push_back(value);
  }
  return shape;
}

// The solver, with its nets read from their files, so that they can be changed.
SolverParameter SolverFromFlags() {
  Require(!FLAGS_solver.empty() || !FLAGS_model.empty(),
          "memory needs a solver or a net: --solver=FILE or --model=FILE "
          "(caffe memory --help tells more)");
  SolverParameter param;
  if (!FLAGS_solver.empty()) {
    ReadSolverParamsFromTextFileOrDie(FLAGS_solver, &param);
  }
  if (!FLAGS_model.empty()) {
    param.clear_train_net();
    param.clear_net_param();
    param.clear_train_net_param();
    param.set_net(FLAGS_model);
  }
  if (param.has_net()) {
    ReadNetParamsFromTextFileOrDie(param.net(), param.mutable_net_param());
    param.clear_net();
  }
  if (param.has_train_net()) {
    ReadNetParamsFromTextFileOrDie(param.train_net(),
                                   param.mutable_train_net_param());
    param.clear_train_net();
  }
  for (const string& file : param.test_net()) {
    ReadNetParamsFromTextFileOrDie(file, param.add_test_net_param());
  }
  param.clear_test_net();
  // Nothing is written, resumed or tested.
  param.clear_snapshot();
  param.clear_weights();
  param.set_display(0);
  param.set_test_initialization(false);
  if (!param.has_lr_policy()) param.set_lr_policy("fixed");
  if (!param.has_compression()) param.mutable_compression();
  return param;
}

NetParameter* TrainNet(SolverParameter* param) {
  return param->has_train_net_param() ? param->mutable_train_net_param()
                                      : param->mutable_net_param();
}

// Without data, and with weights that take no time to make.
SolverParameter WithoutData(SolverParameter param) {
  const vector<int> shape = ShapeFromFlag();
  const auto strip = [&](NetParameter* net) {
    UpgradeNetAsNeeded("the net", net);
    StandInForData(shape, net);
    for (LayerParameter& layer : *net->mutable_layer()) {
      layer.mutable_convolution_param()->clear_weight_filler();
      layer.mutable_inner_product_param()->clear_weight_filler();
    }
  };
  strip(TrainNet(&param));
  for (NetParameter& net : *param.mutable_test_net_param()) strip(&net);
  param.clear_compression();
  return param;
}

// What every tensor of a net is packed to, as far as anybody knows.
class Ratios {
 public:
  Ratios(const SolverParameter& param, const Net<float>& net,
         const Measurement* measured)
      : param_(param), net_(net), measured_(measured) {}

  double operator()(const string& tensor, const vector<int>& readers) const {
    string codec = param_.compression().codec();
    for (const int reader : readers) {
      const LayerParameter& layer = net_.layers()[reader]->layer_param();
      if (layer.compression_param().has_codec()) {
        codec = layer.compression_param().codec();
      }
    }
    if (codec == "none") return 1;
    return measured_ != nullptr ? measured_->RatioOf(tensor) : FLAGS_ratio;
  }

 private:
  const SolverParameter& param_;
  const Net<float>& net_;
  const Measurement* const measured_;
};

// Forecasts for the nets of a solver, whatever their batch size.
class Forecaster {
 public:
  Forecaster(const SolverParameter& param,
             const std::optional<Measurement>& measured)
      : param_(param),
        measured_(measured),
        solver_(SolverRegistry<float>::CreateSolver(WithoutData(param))),
        batch_size_(BatchSizeOf(net())) {
    Require(batch_size_ > 0, "the net has no layer that gives it data");
  }

  Net<float>& net() const { return *solver_->net(); }
  int batch_size() const { return batch_size_; }
  void set_batch_size(int batch_size) {
    SetBatchSize(batch_size, &net());
    batch_size_ = batch_size;
  }

  ActivationForecast Activations(MemoryUse use) const {
    ForecastSettings settings;
    settings.use = use;
    settings.updates_in_backward = solver_->CanUpdateInBackward();
    settings.ratio = Ratios(param_, net(), measured_ ? &*measured_ : nullptr);
    return ForecastActivations(net(), settings);
  }

  PeakForecast Peak(MemoryUse use) const {
    PeakForecast peak;
    for (const Blob<float>* blob : net().learnable_params()) {
      peak.parameters += blob->count() * sizeof(float);
    }
    if (auto* const sgd = dynamic_cast<SGDSolver<float>*>(solver_.get())) {
      const bool packs = use == MemoryUse::kCompressed &&
                         PacksHistory(param_, solver_->type());
      for (const auto& blob : sgd->history()) {
        const int count = blob->count();
        peak.optimizer += packs && PackedHistory<float>::IsWorthIt(count)
                              ? PackedHistory<float>::BytesOf(count)
                              : count * sizeof(float);
      }
    }
    const ActivationForecast training = Activations(use);
    peak.activations = training.raw;
    peak.parameter_gradients = training.parameter_gradients;
    peak.packed = training.packed;
    peak.layers = training.layers;
    peak.data = training.data;
    AddTests(use, &peak);
    peak.workspace = measured_ ? measured_->workspace : 0;
    peak.program = measured_ ? measured_->program : program_;
    return peak;
  }

  // The largest batch that fits; 0 when none does. `power_of_two` takes no
  // others.
  int LargestBatch(size_t budget, MemoryUse use, bool power_of_two) {
    const int before = batch_size_;
    const auto fits = [&](int64_t batch_size) {
      try {
        set_batch_size(static_cast<int>(batch_size));
      } catch (const Error&) {
        return false;  // More values than a blob can have.
      }
      return Peak(use).total() <= budget;
    };
    int64_t good = 0;
    int64_t bad = 1;
    for (; bad <= kMostImages && fits(bad); bad *= 2) good = bad;
    while (!power_of_two && bad - good > 1) {
      const int64_t middle = (good + bad) / 2;
      (fits(middle) ? good : bad) = middle;
    }
    set_batch_size(before);
    return static_cast<int>(good);
  }

 private:
  static constexpr int kMostImages = 1 << 24;

  // Planned, the test nets use the memory of the training net.
  void AddTests(MemoryUse use, PeakForecast* peak) const {
    for (const auto& net : solver_->test_nets()) {
      ForecastSettings settings;
      settings.use = use;
      settings.passes = Passes::kForwardOnly;
      const ActivationForecast test = ForecastActivations(*net, settings);
      peak->data += test.data;
      peak->layers += test.layers;
      peak->activations = use == MemoryUse::kEverything
                              ? peak->activations + test.raw
                              : std::max(peak->activations, test.raw);
    }
  }

  const SolverParameter& param_;
  const std::optional<Measurement>& measured_;
  // Before there are any nets.
  const size_t program_ = memory::PeakOfProcess();
  const std::unique_ptr<Solver<float>> solver_;
  int batch_size_;
};

void Print(const TextTable& table) {
  for (const string& line : table.Lines()) std::cout << "  " << line << '\n';
  std::cout << '\n';
}

void PrintTensors(const Forecaster& forecaster, bool is_measured) {
  const auto plan = forecaster.Activations(MemoryUse::kPlanned).tensors;
  const auto packed = forecaster.Activations(MemoryUse::kCompressed).tensors;
  std::cout << "What is kept from Forward to Backward, batch "
            << forecaster.batch_size() << " ("
            << (is_measured ? "ratios as measured"
                            : Concat("packed to a ", FLAGS_ratio,
                                     "th; --measure measures it"))
            << "):\n";
  TextTable table(/*text_columns=*/1);
  table.Add({"tensor", "raw", "planned", "", "compressed", ""});
  for (size_t i = 0; i < plan.size(); ++i) {
    table.Add({plan[i].name, ReadableBytes(plan[i].raw_bytes), plan[i].kept,
               ReadableBytes(plan[i].kept_bytes), packed[i].kept,
               ReadableBytes(packed[i].kept_bytes)});
  }
  Print(table);
}

void PrintPeaks(const Forecaster& forecaster,
                const std::optional<Measurement>& measured) {
  std::cout << "Forecast of the peak while training, batch "
            << forecaster.batch_size() << ":\n";
  TextTable table(/*text_columns=*/1);
  table.Add({"", "neither", "planned", "compressed"});
  const auto row = [&](const string& name, auto bytes_of) {
    vector<string> cells = {name};
    for (const MemoryUse use : kUses) {
      cells.push_back(ReadableBytes(bytes_of(forecaster.Peak(use))));
    }
    table.Add(cells);
  };
  using Peak = PeakForecast;
  row("activations and their gradients",
      [](const Peak& peak) { return peak.activations; });
  row("packed activations", [](const Peak& peak) { return peak.packed; });
  row("what layers keep besides", [](const Peak& peak) { return peak.layers; });
  row("batches read ahead", [](const Peak& peak) { return peak.data; });
  row("parameters", [](const Peak& peak) { return peak.parameters; });
  row("their gradients",
      [](const Peak& peak) { return peak.parameter_gradients; });
  row("optimizer", [](const Peak& peak) { return peak.optimizer; });
  if (measured) {
    row("workspace", [](const Peak& peak) { return peak.workspace; });
  }
  row("the program itself", [](const Peak& peak) { return peak.program; });
  row("in all", [](const Peak& peak) { return peak.total(); });
  if (measured) {
    table.Add({"measured", "", "", ReadableBytes(measured->process)});
  }
  Print(table);
  if (!measured) {
    std::cout
        << "Not counted: what kernels need, which --measure finds out.\n\n";
  }
}

void PrintLargestBatches(Forecaster* forecaster) {
  const size_t budget = memory::ParseBytes(FLAGS_memory_budget);
  std::cout << "Largest batch within " << FLAGS_memory_budget << ":\n";
  TextTable table(/*text_columns=*/1);
  table.Add({"", "neither", "planned", "compressed"});
  for (const bool power_of_two : {false, true}) {
    vector<string> cells = {power_of_two ? "a power of two" : "any"};
    for (const MemoryUse use : kUses) {
      const int batch = forecaster->LargestBatch(budget, use, power_of_two);
      cells.push_back(batch > 0 ? std::to_string(batch) : "none");
    }
    table.Add(cells);
  }
  Print(table);
}

// As papers count: 4 bytes a value, the inputs of convolutions only.
void PrintConvolutionInputs(const Forecaster& forecaster) {
  double bytes = 0;
  const Net<float>& net = forecaster.net();
  for (size_t i = 0; i < net.layers().size(); ++i) {
    if (string(net.layers()[i]->type()) != "Convolution") continue;
    for (const Blob<float>* bottom : net.bottom_vecs()[i]) {
      bytes += 4.0 * bottom->count();
    }
  }
  std::cout << "Inputs of all convolutions, batch " << forecaster.batch_size()
            << ": " << ReadableBytes(bytes) << '\n';
}

}  // namespace

int Memory() {
  Require(FLAGS_batch >= 0, "--batch must not be negative");
  Require(FLAGS_ratio >= 1, "--ratio must be at least 1, not ", FLAGS_ratio);
  if (!FLAGS_memory_budget.empty()) memory::ParseBytes(FLAGS_memory_budget);
  FLAGS_minloglevel = std::max(FLAGS_minloglevel, 1);
  ChooseDevice(/*wants_gpu=*/false);
  SolverParameter param = SolverFromFlags();
  if (FLAGS_batch > 0) SetTrainingBatchSize(FLAGS_batch, TrainNet(&param));
  // First: a process with threads cannot be forked.
  std::optional<Measurement> measured;
  if (FLAGS_measure) measured = MeasureIteration(param);

  Forecaster forecaster(param, measured);
  PrintTensors(forecaster, measured.has_value());
  PrintPeaks(forecaster, measured);
  if (!FLAGS_memory_budget.empty()) PrintLargestBatches(&forecaster);
  PrintConvolutionInputs(forecaster);
  return 0;
}

}  // namespace caffe
