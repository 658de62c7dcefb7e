#include <algorithm>
#include <cmath>
#include <string>

#include "caffe/compress/packed_history.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// Solvers that keep the momentum of large parameters in a byte a value.

namespace caffe {

namespace {

// The weights of `large` have 1.05 MB, those of `scores` less.
constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 401 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 8 dim: 5 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'large' type: 'InnerProduct' bottom: 'data' top: 'large'
          inner_product_param { num_output: 655
                                weight_filler { type: 'xavier' } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'large' top: 'large' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'large' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'scores' bottom: 'target'
          top: 'loss' } )";

SolverParameter SolverFor(const string& settings) {
  SolverParameter param = ParseSolver(
      "base_lr: 0.01 momentum: 0.9 weight_decay: 0.001 lr_policy: 'fixed' "
      "random_seed: 7 snapshot_after_train: false "
      "compression { error_bound { interval: 2 } } ");
  param.MergeFrom(ParseSolver(settings + " net_param {" + kNet + "}"));
  return param;
}

template <typename Dtype>
const Blob<Dtype>& HistoryOf(Solver<Dtype>& solver, int index) {
  return *dynamic_cast<SGDSolver<Dtype>&>(solver).history()[index];
}

template <typename Dtype>
bool IsPacked(Solver<Dtype>& solver, int index = 0) {
  return HistoryOf(solver, index).data()->is_evicted();
}

template <typename Dtype>
vector<Dtype> StateOf(Solver<Dtype>& solver) {
  vector<Dtype> state = WeightsOf(solver);
  for (const auto& blob : dynamic_cast<SGDSolver<Dtype>&>(solver).history()) {
    const vector<Dtype> values = DataOf(*blob);
    state.insert(state.end(), values.begin(), values.end());
  }
  return state;
}

size_t OptimizerBytes() {
  return memory::Ledger::Get()
      .live()[static_cast<size_t>(memory::Kind::kOptimizer)];
}

template <typename Dtype>
class PackedHistoryTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PackedHistoryTest, Dtypes);

TYPED_TEST(PackedHistoryTest, OnlyLargeMomentaOfSomeSolversArePacked) {
  for (const string type : {"SGD", "Nesterov"}) {
    const auto solver =
        MakeSolver<TypeParam>(SolverFor("type: '" + type + "'"));
    solver->Step(2);
    EXPECT_TRUE(IsPacked(*solver)) << type;
    EXPECT_FALSE(IsPacked(*solver, 2)) << type;
  }
  for (const string settings :
       {"type: 'AdaGrad' momentum: 0", "type: 'Adam'",
        "type: 'RMSProp' momentum: 0", "type: 'AdaDelta'",
        "compression { history_bits: 32 }", "compression { codec: 'none' }",
        "compression { codec: 'none' history_bits: 8 }",
        "compression { codec: 'lossless' }", "compression { codec: 'raw' }"}) {
    const auto solver = MakeSolver<TypeParam>(SolverFor(settings));
    solver->Step(2);
    EXPECT_FALSE(IsPacked(*solver)) << settings;
  }
}

TYPED_TEST(PackedHistoryTest, IsNearWhatItWouldBe) {
  for (const string type : {"SGD", "Nesterov"}) {
    const string settings =
        "type: '" + type + "' compression { codec: 'lossless' ";
    const auto packed =
        MakeSolver<TypeParam>(SolverFor(settings + "history_bits: 8 }"));
    packed->Step(6);
    const auto raw =
        MakeSolver<TypeParam>(SolverFor(settings + "history_bits: 32 }"));
    raw->Step(6);
    const vector<TypeParam> a = DataOf(HistoryOf(*raw, 0));
    const vector<TypeParam> b = DataOf(HistoryOf(*packed, 0));
    double squares = 0;
    double errors = 0;
    double error = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      squares += double(a[i]) * a[i];
      errors += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
      error += double(a[i]) - b[i];
    }
    EXPECT_GT(errors, 0);
    EXPECT_LT(errors, 0.03 * 0.03 * squares) << type;
    // No bias: far less than the errors themselves.
    EXPECT_LT(std::abs(error), 5 * std::sqrt(errors)) << type;
  }
}

TYPED_TEST(PackedHistoryTest, UpdatesAfterBackwardAreTheSame) {
  class Watcher : public Solver<TypeParam>::Callback {
   protected:
    void on_start() override {}
    void on_gradients_ready() override {}
  } watcher;
  for (const string type : {"SGD", "Nesterov"}) {
    const SolverParameter param = SolverFor("type: '" + type + "'");
    const auto during = MakeSolver<TypeParam>(param);
    during->Step(5);
    const auto after = MakeSolver<TypeParam>(param);
    after->add_callback(&watcher);
    after->Step(5);
    EXPECT_TRUE(IsPacked(*after));
    EXPECT_EQ(StateOf(*after), StateOf(*during)) << type;
  }
}

TYPED_TEST(PackedHistoryTest, ReadingChangesNothing) {
  const auto unread = MakeSolver<TypeParam>(SolverFor(""));
  unread->Step(5);
  const auto read = MakeSolver<TypeParam>(SolverFor(""));
  for (int i = 0; i < 5; ++i) {
    read->Step(1);
    EXPECT_TRUE(IsPacked(*read));
    EXPECT_GT(HistoryOf(*read, 0).asum_data(), 0);
    EXPECT_FALSE(IsPacked(*read));
  }
  EXPECT_EQ(StateOf(*unread), StateOf(*read));
}

TEST(PackedHistory, ResumesExactly) {
  for (const string format : {"BINARYPROTO", "HDF5"}) {
    const TemporaryFolder folder;
    const string settings = "snapshot_format: " + format +
                            " snapshot_prefix: '" + (folder / "s") + "'";
    const auto straight = MakeSolver<float>(SolverFor(settings));
    straight->Step(4);
    straight->Snapshot();
    EXPECT_TRUE(IsPacked(*straight));
    straight->Step(5);
    const auto resumed = MakeSolver<float>(SolverFor(settings));
    const string state = folder / (format == "HDF5" ? "s_iter_4.solverstate.h5"
                                                    : "s_iter_4.solverstate");
    resumed->Restore(state.c_str());
    EXPECT_TRUE(IsPacked(*resumed));
    resumed->Step(5);
    EXPECT_EQ(StateOf(*straight), StateOf(*resumed)) << format;
  }
}

TEST(PackedHistory, StatesAreThoseOfAnySolver) {
  const TemporaryFolder folder;
  const string prefix = "snapshot_prefix: '" + (folder / "s") + "'";
  const auto packed = MakeSolver<float>(SolverFor(prefix));
  packed->Step(3);
  packed->Snapshot();
  const auto raw = MakeSolver<float>(
      SolverFor(prefix + " compression { history_bits: 32 }"));
  raw->Restore((folder / "s_iter_3.solverstate").c_str());
  EXPECT_EQ(StateOf(*packed), StateOf(*raw));
  // And the other way round, but for the rounding.
  raw->Step(1);
  raw->Snapshot();
  const auto again = MakeSolver<float>(SolverFor(prefix));
  again->Restore((folder / "s_iter_4.solverstate").c_str());
  EXPECT_TRUE(IsPacked(*again));
  EXPECT_NEAR(HistoryOf(*raw, 0).asum_data(), HistoryOf(*again, 0).asum_data(),
              0.01 * HistoryOf(*raw, 0).asum_data());
}

TEST(PackedHistory, TakesAQuarterOfTheMemory) {
  const size_t before = OptimizerBytes();
  const auto solver = MakeSolver<float>(SolverFor(""));
  solver->Step(2);
  const size_t values = 401 * 655;
  const size_t small = (655 + 655 * 5 + 5) * sizeof(float);
  EXPECT_EQ(values + (values + 63) / 64 + small, OptimizerBytes() - before);
  const auto& sgd = dynamic_cast<SGDSolver<float>&>(*solver);
  EXPECT_EQ(values + (values + 63) / 64, sgd.HistoryBytes(0));
  EXPECT_EQ(655 * sizeof(float), sgd.HistoryBytes(1));
}

TEST(PackedHistory, MayBeReadAfterTheSolverIsGone) {
  shared_ptr<Blob<float>> history;
  {
    const auto solver = MakeSolver<float>(SolverFor(""));
    solver->Step(1);
    history = dynamic_cast<SGDSolver<float>&>(*solver).history()[0];
  }
  try {
    history->cpu_data();
    FAIL() << "gave values that are not there";
  } catch (const Error& error) {
    EXPECT_EQ(
        "the history of parameter large[0] is gone together with its "
        "solver",
        string(error.what()));
  }
}

// A solver as users write them.
class OwnSolver : public SGDSolver<float> {
 public:
  using SGDSolver::SGDSolver;
};

TEST(PackedHistory, SolversOfUsersKeepTheirs) {
  OwnSolver solver(SolverFor(""));
  solver.Step(2);
  EXPECT_FALSE(IsPacked<float>(solver));
}

TEST(PackedHistory, OtherNumbersOfBitsAreErrors) {
  try {
    MakeSolver<float>(SolverFor("compression { history_bits: 5 }"));
    FAIL() << "took 5 bits";
  } catch (const Error& error) {
    EXPECT_EQ("compression.history_bits must be 8 or 32, not 5",
              string(error.what()));
  }
}

}  // namespace

}  // namespace caffe
