#include <limits>
#include <string>

#include "caffe/layers/inner_product_layer.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "cpu/engine.hpp"
#include "cpu/inner_product.hpp"
#include "solver_test_util.hpp"

// Large parameters whose gradients are computed, and used up, some rows at a
// time, against those whose gradients are computed as a whole.

namespace caffe {

namespace {

// 4.8 MB of weights: two slices of floats; doubles are not sliced. 1100 is no
// multiple of 64, so slices must be aligned.
constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 4 dim: 1100 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 4 dim: 1100 } } }
  layer { name: 'low' type: 'InnerProduct' bottom: 'data' top: 'low'
          inner_product_param { num_output: 1100 TRANSPOSE
                                weight_filler { type: 'xavier' } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'low' top: 'low' }
  layer { name: 'high' type: 'InnerProduct' bottom: 'low' top: 'high'
          param { lr_mult: 2 decay_mult: 3 NAME }
          inner_product_param { num_output: 1100
                                weight_filler { type: 'xavier' } } }
  MORE
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'LAST' bottom: 'target'
          top: 'loss' loss_weight: 0.001 } )";

struct Variant {
  string transpose = "";
  string name = "";
  string more = "";
  string last = "high";
};

string Replace(string text, const string& from, const string& to) {
  for (size_t at; (at = text.find(from)) != string::npos;) {
    text.replace(at, from.size(), to);
  }
  return text;
}

SolverParameter SolverFor(const string& settings, const Variant& net = {}) {
  string layers = Replace(kNet, "TRANSPOSE", net.transpose);
  layers = Replace(layers, "NAME", net.name);
  layers = Replace(layers, "MORE", net.more);
  layers = Replace(layers, "LAST", net.last);
  return ParseSolver(
      "base_lr: 0.01 weight_decay: 0.1 lr_policy: 'fixed' random_seed: 7 "
      "snapshot_after_train: false " +
      settings + " net_param { memory { plan: true }" + layers + "}");
}

// Wants to see all gradients after Backward, as a whole.
template <typename Dtype>
class Watcher : public Solver<Dtype>::Callback {
 protected:
  void on_start() override {}
  void on_gradients_ready() override {}
};

template <typename Dtype>
vector<Dtype> StateOf(Solver<Dtype>& solver) {
  vector<Dtype> state = WeightsOf(solver);
  for (const auto& blob : dynamic_cast<SGDSolver<Dtype>&>(solver).history()) {
    const vector<Dtype> values = DataOf(*blob);
    state.insert(state.end(), values.begin(), values.end());
  }
  return state;
}

// The most that gradients of parameters had at a time.
size_t PeakOfGradients(Solver<float>& solver) {
  size_t peak = 0;
  class Look : public Net<float>::Callback {
   public:
    explicit Look(size_t* most) : most_(most) {}

   protected:
    void run(int /*layer*/) override {
      for (const auto& entry : memory::Ledger::Get().Entries()) {
        if (entry.label.kind == memory::Kind::kParameterGradients) {
          *most_ = std::max(*most_, entry.bytes);
        }
      }
    }

   private:
    size_t* const most_;
  } look(&peak);
  solver.net()->add_before_backward(&look);
  solver.net()->add_after_backward(&look);
  solver.Step(1);
  return peak;
}

template <typename Dtype>
class SlicedUpdatesTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SlicedUpdatesTest, Dtypes);

TYPED_TEST(SlicedUpdatesTest, AreThoseOfWholeGradientsBitForBit) {
  for (const char* const settings :
       {"type: 'SGD' momentum: 0.9 regularization_type: 'L1'",
        "type: 'Nesterov' momentum: 0.9", "type: 'AdaGrad'",
        "type: 'RMSProp' rms_decay: 0.9",
        "type: 'AdaDelta' momentum: 0.9 delta: 1e-6",
        "type: 'Adam' momentum: 0.9"}) {
    const Variant variant = {.transpose = "transpose: true"};
    const auto sliced = MakeSolver<TypeParam>(SolverFor(settings, variant));
    sliced->Step(2);
    const auto whole = MakeSolver<TypeParam>(SolverFor(settings, variant));
    Watcher<TypeParam> watcher;
    whole->add_callback(&watcher);
    whole->Step(2);
    EXPECT_EQ(StateOf(*whole), StateOf(*sliced)) << settings;
  }
}

TEST(SlicedUpdates, RowsOfGradientsHaveTheBitsOfWholeOnes) {
  for (const cpu::Kernels kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    for (const bool transposed : {false, true}) {
      for (const int batch : {1, 16, 100}) {
        // Slices of a million values, as those of large parameters: for small
        // matrices BLAS has other kernels.
        constexpr int kRows = 528;
        const cpu::InnerProductShape shape = {
            .batch = batch, .in = 2030, .out = 1100, .transposed = transposed};
        vector<float> in(batch * shape.in);
        vector<float> diff(batch * shape.out);
        caffe_rng_gaussian<float>(in.size(), 0, 1, in.data());
        caffe_rng_gaussian<float>(diff.size(), 0, 1, diff.data());
        const int rows = transposed ? shape.in : shape.out;
        const int row = transposed ? shape.out : shape.in;
        vector<float> whole(rows * row);
        cpu::InnerProductWeightsGradient(shape, in.data(), diff.data(),
                                         whole.data());
        vector<float> slices(rows * row);
        for (int first = 0; first < rows; first += kRows) {
          cpu::InnerProductRowGradients(shape, in.data(), diff.data(), first,
                                        std::min(kRows, rows - first),
                                        slices.data() + first * row);
        }
        EXPECT_TRUE(whole == slices) << batch << " " << transposed;
      }
    }
  }
}

TEST(SlicedUpdates, GradientsNeverHaveMemoryForAllOfThem) {
  const auto sliced = MakeSolver<float>(SolverFor(""));
  const size_t slice = PeakOfGradients(*sliced);
  EXPECT_LE(slice, 4 << 20);
  EXPECT_GT(sliced->net()->learnable_params()[0]->asum_data(), 0);
  EXPECT_THROW(sliced->net()->learnable_params()[0]->cpu_diff(), Error);
}

TEST(SlicedUpdates, OthersGetWholeGradients) {
  const size_t whole = 1100 * 1100 * sizeof(float);
  const vector<string> settings = {"iter_size: 2", "clip_gradients: 1",
                                   "debug_info: true", "snapshot_diff: true"};
  for (const string& setting : settings) {
    const auto solver = MakeSolver<float>(SolverFor(setting));
    EXPECT_GE(PeakOfGradients(*solver), whole) << setting;
    EXPECT_GT(solver->net()->learnable_params()[0]->asum_diff(), 0) << setting;
  }
  // Whoever runs the net himself.
  const auto solver = MakeSolver<float>(SolverFor(""));
  solver->Step(1);
  solver->net()->ClearParamDiffs();
  solver->net()->ForwardBackward();
  EXPECT_GT(solver->net()->learnable_params()[0]->asum_diff(), 0);
}

TEST(SlicedUpdates, VerificationGetsWholeGradients) {
  const string settings =
      "momentum: 0.9 compression { verify_interval: 1 history_bits: 32 "
      "error_bound { estimator: FIXED value: 0.01 } } ";
  LogRecorder log;
  const auto solver = MakeSolver<float>(SolverFor(settings));
  solver->Step(2);
  const vector<string> lines = log.Take();
  EXPECT_GT(std::count_if(
                lines.begin(), lines.end(),
                [](const string& line) { return line.find("    high ") == 0; }),
            0);
  const auto unverified =
      MakeSolver<float>(SolverFor(Replace(settings, "verify_interval: 1", "")));
  unverified->Step(2);
  EXPECT_EQ(WeightsOf(*unverified), WeightsOf(*solver));
}

TEST(SlicedUpdates, SharedWeightsAreUpdatedAsAWhole) {
  const Variant shared = {
      .name = "name: 'w'",
      .more =
          "layer { name: 'again' type: 'InnerProduct' bottom: 'high' "
          "        top: 'again' param { name: 'w' } "
          "        inner_product_param { num_output: 1100 } }",
      .last = "again"};
  const auto solver = MakeSolver<float>(SolverFor("momentum: 0.9", shared));
  EXPECT_GE(PeakOfGradients(*solver), 1100 * 1100 * sizeof(float));
  const auto plain = SolverFor("momentum: 0.9", shared);
  const auto watched = MakeSolver<float>(plain);
  Watcher<float> watcher;
  watched->add_callback(&watcher);
  watched->Step(1);
  EXPECT_EQ(StateOf(*watched), StateOf(*solver));
}

TEST(SlicedUpdates, FrozenWeightsStayAndOthersDecay) {
  SolverParameter param = SolverFor("momentum: 0.9");
  LayerParameter* const low = param.mutable_net_param()->mutable_layer(2);
  low->add_param()->set_lr_mult(0);
  const auto solver = MakeSolver<float>(param);
  const vector<float> before = DataOf(*solver->net()->learnable_params()[0]);
  solver->Step(2);
  EXPECT_EQ(before, DataOf(*solver->net()->learnable_params()[0]));
}

TEST(SlicedUpdates, NoPartOfABadGradientIsUsed) {
  SolverParameter param = SolverFor(
      "momentum: 0.9 compression { error_bound { estimator: FIXED value: 0.1 } "
      "} ");
  const auto solver = MakeSolver<float>(param);
  solver->Step(1);
  const vector<float> before = DataOf(*solver->net()->learnable_params()[2]);
  // Puts a value that is no number into the last row, which belongs to the last
  // slice, of the gradient.
  class Spoil : public Net<float>::Callback {
   public:
    explicit Spoil(Net<float>* net) : net_(net) {}
    void run(int layer) override {
      if (net_->layer_names()[layer] != "loss") return;
      net_->blob_by_name("high")->mutable_cpu_diff()[1099] =
          std::numeric_limits<float>::quiet_NaN();
    }

   private:
    Net<float>* const net_;
  } spoil(solver->net().get());
  solver->net()->add_after_backward(&spoil);
  solver->Step(1);
  EXPECT_EQ(before, DataOf(*solver->net()->learnable_params()[2]));
}

// Layers of users may do something else in Backward.
template <typename Dtype>
class OwnInnerProductLayer : public InnerProductLayer<Dtype> {
 public:
  using InnerProductLayer<Dtype>::InnerProductLayer;
};

TEST(SlicedUpdates, SubclassesOfLayersAreNotAskedForRows) {
  const LayerParameter param;
  EXPECT_TRUE(InnerProductLayer<float>(param).has_row_gradients(0));
  EXPECT_FALSE(InnerProductLayer<float>(param).has_row_gradients(1));
  EXPECT_FALSE(InnerProductLayer<double>(param).has_row_gradients(0));
  EXPECT_FALSE(OwnInnerProductLayer<float>(param).has_row_gradients(0));
}

}  // namespace

}  // namespace caffe
