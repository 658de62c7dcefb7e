#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "log_recorder.hpp"
#include "solver_test_util.hpp"

// Solvers that update parameters during Backward, against the same solvers
// when somebody wants to see all gradients after it.

namespace caffe {

namespace {

// Parameters of every kind: frozen, shared, without decay, of a layer that no
// loss comes back to (side), and of one that does not declare what it reads
// (affine).
constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 12 dim: 12 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 8 dim: 5 } } }
  layer { name: 'frozen' type: 'Convolution' bottom: 'data' top: 'frozen'
          param { lr_mult: 0 } param { lr_mult: 0 }
          convolution_param { num_output: 4 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'conv' type: 'Convolution' bottom: 'frozen' top: 'conv'
          param { decay_mult: 3 } param { lr_mult: 2 decay_mult: 0 }
          convolution_param { num_output: 4 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn' type: 'BatchNorm' bottom: 'conv' top: 'conv' }
  layer { name: 'scale' type: 'Scale' bottom: 'conv' top: 'conv'
          scale_param { bias_term: true } }
  layer { name: 'first' type: 'Convolution' bottom: 'conv' top: 'first'
          param { name: 'w' } param { name: 'b' }
          convolution_param { num_output: 4 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'first' top: 'first' }
  layer { name: 'second' type: 'Convolution' bottom: 'first' top: 'second'
          param { name: 'w' } param { name: 'b' }
          convolution_param { num_output: 4 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'side' type: 'InnerProduct' bottom: 'second' top: 'side'
          inner_product_param { num_output: 3
                                weight_filler { type: 'xavier' } } }
  layer { name: 'quiet' type: 'Silence' bottom: 'side' }
  layer { name: 'affine' type: 'Affine' bottom: 'second' top: 'affine' }
  layer { name: 'ip' type: 'InnerProduct' bottom: 'affine' top: 'ip'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'target'
          top: 'loss' } )";

constexpr const char* kSolver = R"(
  base_lr: 0.01 weight_decay: 0.1 lr_policy: 'multistep' gamma: 0.5
  stepvalue: 2 stepvalue: 3 display: 1 random_seed: 7
  snapshot_after_train: false
  compression { error_bound { interval: 2 tolerance: 0.1 } } )";

SolverParameter SolverFor(const string& settings, const string& net = "") {
  SolverParameter param = ParseSolver(kSolver);
  param.MergeFrom(ParseSolver(settings + " net_param {" + net + kNet + "}"));
  return param;
}

// Wants to see all gradients, so that they must be kept.
template <typename Dtype>
class Watcher : public Solver<Dtype>::Callback {
 protected:
  void on_start() override {}
  void on_gradients_ready() override {}
};

// All that an update changes.
template <typename Dtype>
vector<Dtype> StateOf(Solver<Dtype>& solver) {
  vector<Dtype> state = WeightsOf(solver);
  for (const auto& blob : dynamic_cast<SGDSolver<Dtype>&>(solver).history()) {
    const vector<Dtype> values = DataOf(*blob);
    state.insert(state.end(), values.begin(), values.end());
  }
  return state;
}

template <typename Dtype>
const Blob<Dtype>& WeightsOfIp(Solver<Dtype>& solver) {
  return *solver.net()->layer_by_name("ip")->blobs()[0];
}

template <typename Dtype>
class BackwardUpdatesTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BackwardUpdatesTest, Dtypes);

TYPED_TEST(BackwardUpdatesTest, AreThoseAfterBackwardBitForBit) {
  for (const char* const settings :
       {"type: 'SGD'", "type: 'SGD' momentum: 0.9",
        "type: 'SGD' momentum: 0.9 regularization_type: 'L1'",
        "type: 'Nesterov' momentum: 0.9", "type: 'AdaGrad'",
        "type: 'RMSProp' rms_decay: 0.9",
        "type: 'AdaDelta' momentum: 0.9 delta: 1e-6",
        "type: 'Adam' momentum: 0.9 regularization_type: 'L1'"}) {
    const auto during = MakeSolver<TypeParam>(SolverFor(settings));
    during->Step(6);
    EXPECT_TRUE(WeightsOfIp(*during).diff()->is_evicted()) << settings;
    const auto after = MakeSolver<TypeParam>(SolverFor(settings));
    Watcher<TypeParam> watcher;
    after->add_callback(&watcher);
    after->Step(6);
    EXPECT_FALSE(WeightsOfIp(*after).diff()->is_evicted()) << settings;
    EXPECT_EQ(StateOf(*after), StateOf(*during)) << settings;
  }
}

TYPED_TEST(BackwardUpdatesTest, AreThoseOfAPlainSolverBitForBit) {
  const string settings = "momentum: 0.9 compression { codec: 'lossless' }";
  const auto during = MakeSolver<TypeParam>(SolverFor(settings));
  during->Step(5);
  EXPECT_TRUE(WeightsOfIp(*during).diff()->is_evicted());
  const auto plain =
      MakeSolver<TypeParam>(SolverFor(settings, "memory { plan: false }"));
  plain->Step(5);
  EXPECT_EQ(StateOf(*plain), StateOf(*during));
}

TEST(BackwardUpdates, LogWhatOthersLog) {
  const auto log_of = [](bool is_watched) {
    const auto solver = MakeSolver<float>(SolverFor("momentum: 0.9"));
    Watcher<float> watcher;
    if (is_watched) solver->add_callback(&watcher);
    LogRecorder log;
    solver->Step(4);
    return log.Take();
  };
  const auto timeless = [](vector<string> lines) {
    std::erase_if(lines, [](const string& line) {
      return line.find("iter/s") != string::npos ||
             line.find("% of the time") != string::npos;
    });
    return lines;
  };
  const vector<string> log = timeless(log_of(false));
  EXPECT_EQ(timeless(log_of(true)), log);
  EXPECT_EQ(1, std::count(log.begin(), log.end(), "Iteration 3, lr = 0.0025"));
  EXPECT_EQ(1, std::count(log.begin(), log.end(),
                          "MultiStep Status: Iteration 3, step = 2"));
}

TEST(BackwardUpdates, GradientsThatWereDroppedAreErrors) {
  const auto solver = MakeSolver<float>(SolverFor(""));
  solver->Step(1);
  try {
    WeightsOfIp(*solver).cpu_diff();
    FAIL() << "gave values that are not there";
  } catch (const Error& error) {
    EXPECT_EQ(
        "the gradient of parameter ip[0] was dropped after its update; "
        "memory { plan: false } in the net keeps it",
        string(error.what()));
  }
  // The layer may keep pointers to it.
  const Blob<float>& affine =
      *solver->net()->layer_by_name("affine")->blobs()[0];
  EXPECT_GT(affine.asum_diff(), 0);
}

TEST(BackwardUpdates, DroppedGradientsOutliveTheSolver) {
  shared_ptr<Blob<float>> weights;
  {
    const auto solver = MakeSolver<float>(SolverFor(""));
    solver->Step(1);
    weights = solver->net()->layer_by_name("ip")->blobs()[0];
  }
  EXPECT_THROW(weights->cpu_diff(), Error);
}

TEST(BackwardUpdates, GradientsAreKeptForThoseWhoWantThem) {
  for (const char* const settings :
       {"iter_size: 2", "clip_gradients: 1", "debug_info: true",
        "snapshot_diff: true"}) {
    const auto solver = MakeSolver<float>(SolverFor(settings));
    solver->Step(2);
    EXPECT_GT(WeightsOfIp(*solver).asum_diff(), 0) << settings;
  }
  const auto solver =
      MakeSolver<float>(SolverFor("", "memory { plan: false }"));
  solver->Step(2);
  EXPECT_GT(WeightsOfIp(*solver).asum_diff(), 0);
}

// A solver as users write them.
class OwnSolver : public SGDSolver<float> {
 public:
  using SGDSolver::SGDSolver;
  void ApplyUpdate() override {
    seen += WeightsOfIp(*this).asum_diff();
    SGDSolver::ApplyUpdate();
  }
  bool has_touched_scratch() const {
    const auto is_touched = [](const shared_ptr<Blob<float>>& blob) {
      return blob->data()->head() != SyncedMemory::UNINITIALIZED ||
             blob->diff()->head() != SyncedMemory::UNINITIALIZED;
    };
    return std::any_of(update_.begin(), update_.end(), is_touched) ||
           std::any_of(temp_.begin(), temp_.end(), is_touched);
  }
  float seen = 0;
};

TEST(BackwardUpdates, SolversOfUsersSeeGradients) {
  OwnSolver solver(SolverFor("momentum: 0.9"));
  solver.Step(2);
  EXPECT_GT(solver.seen, 0);
  EXPECT_FALSE(solver.has_touched_scratch());
  const auto ours = MakeSolver<float>(SolverFor("momentum: 0.9"));
  ours->Step(2);
  EXPECT_EQ(StateOf<float>(*ours), StateOf<float>(solver));
}

TEST(BackwardUpdates, UpdatesByHandAfterStepsAreDone) {
  AdamSolver<float> solver(SolverFor("snapshot_after_train: false"));
  solver.Step(2);
  const vector<float> before = WeightsOf(solver);
  solver.net()->ClearParamDiffs();
  solver.net()->ForwardBackward();
  solver.ApplyUpdate();
  EXPECT_NE(before, WeightsOf(solver));
}

TEST(BackwardUpdates, NetsRunByHandHaveGradients) {
  const string settings = "compression { codec: 'lossless' }";
  const auto solver = MakeSolver<float>(SolverFor(settings));
  const auto plain =
      MakeSolver<float>(SolverFor(settings, "memory { plan: false }"));
  vector<vector<float>> gradients;
  for (Solver<float>* const each : {solver.get(), plain.get()}) {
    Caffe::set_random_seed(3);
    each->Step(1);
    const vector<float> weights = DataOf(WeightsOfIp(*each));
    each->net()->ClearParamDiffs();
    each->net()->ForwardBackward();
    gradients.push_back(DiffOf(WeightsOfIp(*each)));
    EXPECT_EQ(weights, DataOf(WeightsOfIp(*each)));
    each->Step(2);
  }
  EXPECT_EQ(gradients[1], gradients[0]);
  EXPECT_EQ(WeightsOf(*plain), WeightsOf(*solver));
}

// Looks around after every layer's Backward.
class AfterEveryLayer : public Net<float>::Callback {
 public:
  explicit AfterEveryLayer(std::function<void(int)> look)
      : look_(std::move(look)) {}

 protected:
  void run(int layer) override { look_(layer); }

 private:
  std::function<void(int)> look_;
};

int IndexOf(const Net<float>& net, const string& layer) {
  const vector<string>& names = net.layer_names();
  return static_cast<int>(std::find(names.begin(), names.end(), layer) -
                          names.begin());
}

size_t GradientsInMemory() {
  return memory::Ledger::Get()
      .live()[static_cast<size_t>(memory::Kind::kParameterGradients)];
}

TEST(BackwardUpdates, GradientsHaveMemoryOnlyUntilTheUpdate) {
  const size_t before = GradientsInMemory();
  const auto solver = MakeSolver<float>(SolverFor(""));
  const Net<float>& net = *solver->net();
  size_t all = 0;
  for (const Blob<float>* param : net.learnable_params()) {
    all += param->count() * sizeof(float);
  }
  // Those of the layer that does not tell stay.
  const size_t affine = 2 * 4 * 12 * 12 * sizeof(float);
  // Between the two convolutions that share them, in cache lines.
  const size_t shared = (4 * 4 * 3 * 3 + 16) * sizeof(float);
  vector<size_t> live(net.layers().size());
  AfterEveryLayer look(
      [&](int layer) { live[layer] = GradientsInMemory() - before; });
  solver->net()->add_after_backward(&look);
  solver->Step(2);
  EXPECT_EQ(affine, live[0]);
  EXPECT_EQ(affine, live[IndexOf(net, "side")]);
  EXPECT_EQ(affine + shared, live[IndexOf(net, "second")]);
  EXPECT_LT(affine + shared, all / 2);
}

TEST(BackwardUpdates, GoOnAfterABackwardThatFailed) {
  const auto solver = MakeSolver<float>(SolverFor(""));
  bool fails = false;
  const int second = IndexOf(*solver->net(), "second");
  AfterEveryLayer look(
      [&](int layer) { Require(!fails || layer != second, "failed as told"); });
  solver->net()->add_after_backward(&look);
  solver->Step(1);
  fails = true;
  EXPECT_THROW(solver->Step(1), Error);
  fails = false;
  const vector<float> weights = DataOf(WeightsOfIp(*solver));
  // Whoever runs the net now must not update anything.
  solver->net()->ClearParamDiffs();
  solver->net()->ForwardBackward();
  EXPECT_EQ(weights, DataOf(WeightsOfIp(*solver)));
  solver->Step(1);
  EXPECT_NE(weights, DataOf(WeightsOfIp(*solver)));
}

}  // namespace

}  // namespace caffe
