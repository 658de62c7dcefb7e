#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "caffe/memory/ledger.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "compress/solver_compression.hpp"
#include "log_recorder.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// Training with batches that follow from a budget of memory.

namespace caffe {

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Some 2 MB an image.
constexpr const char* kNet = R"(
  name: 'small'
  layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
          dummy_data_param {
            shape { dim: 8 dim: 3 dim: 48 dim: 48 } shape { dim: 8 }
            data_filler { type: 'gaussian' } data_filler { value: 1 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 32 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 32 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'conv2' top: 'conv2' }
  layer { name: 'pool2' type: 'Pooling' bottom: 'conv2' top: 'pool2'
          pooling_param { kernel_size: 4 stride: 4 } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'pool2' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' } )";
constexpr int kConfigured = 8;

constexpr const char* kSolver = R"(
  base_lr: 0.001 momentum: 0.9 lr_policy: 'fixed' random_seed: 7
  snapshot_after_train: false display: 7 )";

SolverParameter SolverFor(const string& settings) {
  SolverParameter param = ParseSolver(kSolver);
  param.MergeFrom(ParseSolver(settings + " net_param {" + kNet + "}"));
  return param;
}

// Room for so many megabytes besides what the process has now.
string Budget(int megabytes, const string& batch_size) {
  const size_t bytes =
      memory::ResidentInProcess() + megabytes * size_t{1000000};
  return "compression { memory_budget: '" + std::to_string(bytes) +
         "' batch_size { adapt: true " + batch_size + " } }";
}

int BatchOf(Solver<float>& solver) {
  return solver.net()->blob_by_name("data")->shape(0);
}

// The messages that start so.
vector<string> Select(const LogRecorder& log, const string& start) {
  vector<string> found;
  for (const string& message : log.messages()) {
    if (message.starts_with(start)) found.push_back(message);
  }
  return found;
}

// Looks at every iteration before it starts.
class Watcher : public Solver<float>::Callback {
 public:
  explicit Watcher(Solver<float>* solver) : solver_(solver) {
    solver->add_callback(this);
  }
  size_t most_bytes() const { return most_bytes_; }
  const vector<int>& batches() const { return batches_; }
  int images() const {
    return std::accumulate(batches_.begin(), batches_.end(), 0);
  }

 protected:
  void on_start() override {
    most_bytes_ = std::max(most_bytes_, memory::ResidentInProcess());
    batches_.push_back(BatchOf(*solver_));
  }
  void on_gradients_ready() override {
    most_bytes_ = std::max(most_bytes_, memory::ResidentInProcess());
  }

 private:
  Solver<float>* const solver_;
  size_t most_bytes_ = 0;
  vector<int> batches_;
};

}  // namespace

TEST(BatchAdaptation, GrowsWithinTheBudget) {
  const SolverParameter param =
      SolverFor(Budget(250, "max: 1024 lr_scaling: LINEAR"));
  const LogRecorder log;
  const auto solver = MakeSolver<float>(param);
  Watcher watcher(solver.get());
  solver->Step(120);
  const int batch = BatchOf(*solver);
  EXPECT_GE(watcher.batches().at(5), 32);
  EXPECT_EQ(kConfigured, watcher.batches()[0]);
  EXPECT_LT(watcher.most_bytes(),
            std::stoull(param.compression().memory_budget()));
  // Much of the budget is in use.
  const int largest =
      *std::max_element(watcher.batches().begin(), watcher.batches().end());
  EXPECT_GE(largest, 64) << batch;
  EXPECT_EQ(0, largest & (largest - 1));
  const vector<string> changes = Select(log, "Batch size ");
  ASSERT_FALSE(changes.empty());
  EXPECT_THAT(changes[0],
              ContainsRegex("^Batch size 8 -> 16: the forecast is [0-9]+ MB, "
                            "the budget [0-9.]+ [MG]B$"));
  // Each image counts.
  EXPECT_EQ(120, solver->iter());
  EXPECT_EQ(120 * kConfigured, watcher.images());
  EXPECT_EQ(watcher.batches().size(), solver->updates());
  EXPECT_LT(solver->updates(), 60);
  const auto& sgd = dynamic_cast<SGDSolver<float>&>(*solver);
  EXPECT_FLOAT_EQ(0.001F * watcher.batches().back() / kConfigured,
                  sgd.learning_rate());
}

TEST(BatchAdaptation, IntervalsKeepTheirMeaning) {
  const TemporaryFolder folder;
  const LogRecorder log;
  SolverParameter param =
      SolverFor(Budget(2000, "max: 64") +
                "max_iter: 50 test_iter: 1 test_interval: 15 snapshot: 25 "
                "snapshot_after_train: true snapshot_prefix: '" +
                (folder / "s") + "'");
  param.set_lr_policy("multistep");
  param.set_gamma(0.1);
  param.add_stepvalue(30);
  const auto solver = MakeSolver<float>(param);
  Watcher watcher(solver.get());
  solver->Solve();
  EXPECT_EQ(64, *std::max_element(watcher.batches().begin(),
                                  watcher.batches().end()));
  EXPECT_EQ(50, solver->iter());
  EXPECT_EQ(50 * kConfigured, watcher.images());
  vector<string> tests = Select(log, "Iteration ");
  std::erase_if(tests, [](const string& line) {
    return line.find("Testing net") == string::npos;
  });
  EXPECT_EQ(
      (vector<string>{
          "Iteration 0, Testing net (#0)", "Iteration 15, Testing net (#0)",
          "Iteration 30, Testing net (#0)", "Iteration 45, Testing net (#0)"}),
      tests);
  EXPECT_EQ((vector<string>{"s_iter_25.caffemodel", "s_iter_25.solverstate",
                            "s_iter_50.caffemodel", "s_iter_50.solverstate"}),
            folder.Names());
  const auto& sgd = dynamic_cast<SGDSolver<float>&>(*solver);
  EXPECT_FLOAT_EQ(0.0001F, sgd.learning_rate());
}

TEST(BatchAdaptation, ResumedRunsAreThoseThatWereNotStopped) {
  const TemporaryFolder folder;
  const string settings = Budget(2000, "max: 40 any: true lr_scaling: SQRT") +
                          "test_iter: 1 test_interval: 11 snapshot_prefix: '" +
                          (folder / "s") + "'";
  vector<float> expected;
  {
    const auto whole = MakeSolver<float>(SolverFor(settings));
    whole->Step(16);
    EXPECT_LT(whole->updates(), 10);
    EXPECT_EQ(40, whole->compression()->batches()->batch_size());
    whole->Snapshot();
    whole->Step(19);
    expected = WeightsOf(*whole);
  }
  const auto resumed = MakeSolver<float>(SolverFor(settings));
  resumed->Restore((folder / "s_iter_16.solverstate").c_str());
  EXPECT_EQ(16, resumed->iter());
  EXPECT_EQ(40, BatchOf(*resumed));
  resumed->Step(19);
  EXPECT_EQ(expected, WeightsOf(*resumed));
}

TEST(BatchAdaptation, NothingChangesWhereNothingMayGrow) {
  const auto weights = [](const string& settings) {
    const auto solver = MakeSolver<float>(SolverFor(settings));
    solver->Step(5);
    return WeightsOf(*solver);
  };
  EXPECT_EQ(weights("compression { }"),
            weights(Budget(2000, "max: 8 lr_scaling: LINEAR")));
}

TEST(BatchAdaptation, ShrinksWhenTheBudgetDoesNotHold) {
  const TemporaryFolder folder;
  const string prefix = "snapshot_prefix: '" + (folder / "s") + "'";
  {
    const auto solver =
        MakeSolver<float>(SolverFor(Budget(3000, "max: 256") + prefix));
    solver->Step(100);
    EXPECT_EQ(256, solver->compression()->batches()->batch_size());
    solver->Snapshot();
  }
  const SolverParameter param = SolverFor(Budget(200, "max: 256") + prefix);
  const auto solver = MakeSolver<float>(param);
  solver->Restore((folder / "s_iter_100.solverstate").c_str());
  const LogRecorder log;
  solver->Step(60);
  EXPECT_THAT(Select(log, "Batch size 256 -> ").at(0),
              HasSubstr(": tensors pack less well than before: "));
  EXPECT_LE(solver->compression()->batches()->batch_size(), 128);
  EXPECT_GE(solver->compression()->batches()->batch_size(), kConfigured);
  EXPECT_LT(memory::ResidentInProcess(),
            std::stoull(param.compression().memory_budget()));
}

TEST(BatchAdaptation, RefusesWhatCannotWork) {
  const auto error_of = [](const SolverParameter& param) -> string {
    try {
      MakeSolver<float>(param)->Step(1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(
      error_of(SolverFor("compression { memory_budget: '1MB' "
                         "batch_size { adapt: true } }")),
      ContainsRegex("^a memory_budget of 1.0 MB cannot hold a batch of 1: the "
                    "process would take about [0-9]+ MB, and 5 % are kept in "
                    "reserve$"));
  EXPECT_THAT(error_of(SolverFor("compression { batch_size { adapt: true } }")),
              StartsWith("compression.batch_size needs a memory_budget"));
  EXPECT_THAT(error_of(SolverFor("compression { memory_budget: 'much' "
                                 "batch_size { adapt: true } }")),
              StartsWith("'much' is no amount of memory"));
  SolverParameter unplanned = SolverFor(Budget(1000, ""));
  unplanned.mutable_net_param()->mutable_memory()->set_plan(false);
  EXPECT_THAT(error_of(unplanned),
              StartsWith("compression.batch_size needs activations that are"));
  SolverParameter input = SolverFor(Budget(1000, ""));
  input.mutable_net_param()->mutable_layer(0)->set_type("Input");
  *input.mutable_net_param()
       ->mutable_layer(0)
       ->mutable_input_param()
       ->mutable_shape() =
      input.net_param().layer(0).dummy_data_param().shape();
  EXPECT_EQ(
      "layer 'data' (Input) cannot change its batch size, as "
      "compression.batch_size asks",
      error_of(input));
}

}  // namespace caffe
