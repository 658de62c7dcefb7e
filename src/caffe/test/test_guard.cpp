#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "compressed_training_test_util.hpp"
#include "temporary_folder.hpp"

// What compressed training does when a loss or a gradient goes astray.

namespace caffe {

namespace {

// What the Poison layers do in which of their forward passes.
struct Poison {
  int pass = -1;
  // Of every value, in Forward and in Backward.
  float factor = 1;
  float gradient_factor = 1;
};
Poison poison;
int forward_passes = 0;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// top = bottom, but for the poison.
template <typename Dtype>
class PoisonLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  const char* type() const override { return "Poison"; }
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override {
    top[0]->ReshapeLike(*bottom[0]);
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override {
    is_poisoned_ = forward_passes++ == poison.pass;
    Copy(bottom[0]->cpu_data(), poison.factor, bottom[0]->count(),
         top[0]->mutable_cpu_data());
  }
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& bottom) override {
    Copy(top[0]->cpu_diff(), poison.gradient_factor, top[0]->count(),
         bottom[0]->mutable_cpu_diff());
  }

 private:
  void Copy(const Dtype* from, float factor, int count, Dtype* to) const {
    for (int i = 0; i < count; ++i)
      to[i] = is_poisoned_ ? from[i] * factor : from[i];
  }
  bool is_poisoned_ = false;
};
REGISTER_LAYER_CLASS(Poison);

// A BatchNorm before the poison and one behind it.
constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 8 dim: 5 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'bn1' }
  layer { name: 'culprit' type: 'Poison' bottom: 'bn1' top: 'poisoned' }
  layer { name: 'relu1' type: 'ReLU' bottom: 'poisoned' top: 'poisoned' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'poisoned' top: 'conv2'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'conv2' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'scores' bottom: 'target'
          top: 'loss' } )";

class GuardTest : public ::testing::Test {
 protected:
  GuardTest() {
    poison = {};
    forward_passes = 0;
  }

  // Without test nets, whose passes would count.
  std::unique_ptr<Solver<float>> SolverWith(const string& guard,
                                            const string& settings = "") {
    SolverParameter param =
        SolverFor(settings + " base_lr: 0.0001 compression { guard {" + guard +
                      "} error_bound { estimator: FIXED value: 0.25 } } "
                      "snapshot_prefix: '" +
                      prefix() + "'",
                  "", kNet);
    param.clear_test_iter();
    param.clear_test_interval();
    return MakeSolver<float>(param);
  }
  string prefix() const { return folder_ / "s"; }

  static bool AllFinite(Solver<float>& solver) {
    for (const float weight : WeightsOf(solver)) {
      if (!std::isfinite(weight)) return false;
    }
    return true;
  }
  // The message of the log that has all the texts.
  string MessageWith(const vector<string>& texts) const {
    for (const string& message : log_.messages()) {
      if (std::all_of(texts.begin(), texts.end(), [&](const string& text) {
            return message.find(text) != string::npos;
          })) {
        return message;
      }
    }
    return "";
  }
  // With which bound the data were packed last.
  string LastBoundOfData(Solver<float>& solver) {
    (void)log_.Take();
    solver.Solve();
    const string row = MessageWith({"    conv1 ", " packed "});
    const size_t start = row.find(" sz ");
    if (start == string::npos) return row;
    const size_t begin = row.find_first_not_of(' ', start + 4);
    return row.substr(begin, row.find(' ', begin) - begin);
  }

  const TemporaryFolder folder_;
  LogRecorder log_;
};

TEST_F(GuardTest, NothingHappensInAGoodRun) {
  const auto warned = SolverWith("action: WARN");
  warned->Step(6);
  const auto guarded = SolverWith("window: 2");
  guarded->Step(6);
  EXPECT_EQ(WeightsOf(*warned), WeightsOf(*guarded));
  EXPECT_EQ("", MessageWith({"Iteration 3: "}));
}

TEST_F(GuardTest, LeavesOutAnUpdateOfALossThatIsNoNumber) {
  poison = {.pass = 3, .factor = kNaN};
  const auto solver = SolverWith("", "average_loss: 2");
  solver->Step(3);
  const vector<float> before = WeightsOf(*solver);
  solver->Step(1);
  EXPECT_EQ(4, solver->iter());
  // Averages of the BatchNorm among them.
  EXPECT_EQ(before, WeightsOf(*solver));
  EXPECT_EQ(
      "Iteration 3: the loss is nan, and the first values like that are in "
      "blob poisoned of layer culprit; its update is left out, and error "
      "bounds are divided by 2",
      MessageWith({"Iteration 3: "}));
  solver->Step(2);
  EXPECT_NE(before, WeightsOf(*solver));
  EXPECT_TRUE(AllFinite(*solver));
  EXPECT_TRUE(std::isfinite(solver->smoothed_loss()));
}

TEST_F(GuardTest, TightensTheBoundsAndLetsThemGrowAgain) {
  poison = {.pass = 1, .factor = kNaN};
  EXPECT_EQ("0.0625", LastBoundOfData(*SolverWith("factor: 4", "max_iter: 4")));
  forward_passes = 0;
  EXPECT_EQ("0.25", LastBoundOfData(
                        *SolverWith("factor: 4 recovery: 3", "max_iter: 6")));
  EXPECT_NE("", MessageWith({"No alarm for 3 batches"}));
}

TEST_F(GuardTest, LeavesOutAnUpdateOfAGradientThatIsNoNumber) {
  for (const string settings : {"", "clip_gradients: 100 ", "iter_size: 2 "}) {
    forward_passes = 0;
    poison = {.pass = 3, .factor = 1, .gradient_factor = kNaN};
    const auto solver = SolverWith("", settings);
    solver->Step(6);
    EXPECT_TRUE(AllFinite(*solver)) << settings;
    EXPECT_NE("", MessageWith({"the gradient of parameter ",
                               " of layer conv1 is not finite; "
                               "its update is left out"}))
        << settings;
    (void)log_.Take();
  }
}

TEST_F(GuardTest, WarnsOfAHighLossAndGoesOn) {
  poison = {.pass = 6, .factor = 100};
  const auto warned = SolverWith("action: WARN window: 5");
  warned->Step(8);
  const string message = MessageWith({"Iteration 6: the loss, "});
  EXPECT_NE(string::npos,
            message.find(", most of it of layer loss, is far above its trend"))
      << message;
  EXPECT_EQ(string::npos, message.find("divided"));
  forward_passes = 0;
  const auto tightened = SolverWith("window: 5");
  tightened->Step(8);
  EXPECT_NE("", MessageWith({"Iteration 6: the loss, ",
                             "; error bounds are divided by 2"}));
  // The update of the high loss is made.
  EXPECT_NE(WeightsOf(*warned), WeightsOf(*tightened));
}

TEST_F(GuardTest, WarnsOfWhatIsNoNumberAndGoesOn) {
  poison = {.pass = 2, .factor = kNaN};
  const auto solver = SolverWith("action: WARN");
  solver->Step(3);
  EXPECT_FALSE(AllFinite(*solver));
  EXPECT_EQ(
      "Iteration 2: the loss is nan, and the first values like that are "
      "in blob poisoned of layer culprit",
      MessageWith({"Iteration 2: "}));
}

TEST_F(GuardTest, StopsWithASnapshotOfTheStateBefore) {
  for (const float factor : {kNaN, 1e6F}) {
    forward_passes = 0;
    poison = {.pass = 6, .factor = factor};
    const auto solver = SolverWith("action: STOP window: 5");
    solver->Step(6);
    const vector<float> before = WeightsOf(*solver);
    string error;
    try {
      solver->Step(2);
    } catch (const Error& caught) {
      error = caught.what();
    }
    EXPECT_EQ(0, error.find("training was stopped in iteration 6: the loss"))
        << error;
    EXPECT_NE(string::npos, error.find("; the snapshot " + prefix() +
                                       "_iter_6 is of the state before"))
        << error;
    const auto resumed = SolverWith("action: WARN");
    resumed->Restore((prefix() + "_iter_6.solverstate").c_str());
    EXPECT_EQ(before, WeightsOf(*resumed));
    resumed->Step(1);
  }
}

TEST_F(GuardTest, GivesUpWhenItDoesNotHelp) {
  const auto solver = SolverWith("patience: 3");
  solver->Step(2);
  Blob<float>* const weights = solver->net()->learnable_params()[0];
  weights->mutable_cpu_data()[0] = std::numeric_limits<float>::infinity();
  try {
    solver->Step(10);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_NE(string::npos,
              string(error.what()).find("so is parameter 0 of layer conv1"))
        << error.what();
  }
  EXPECT_EQ(5, solver->iter());
}

TEST_F(GuardTest, SnapshotsHaveItsState) {
  const string guard = "window: 4 recovery: 5";
  poison = {.pass = 5, .factor = 8};
  const auto whole = SolverWith(guard);
  whole->Step(7);
  whole->Snapshot();
  whole->Step(6);
  const auto resumed = SolverWith(guard);
  resumed->Restore((prefix() + "_iter_7.solverstate").c_str());
  resumed->Step(6);
  EXPECT_EQ(WeightsOf(*whole), WeightsOf(*resumed));
  EXPECT_EQ(2, std::count_if(log_.messages().begin(), log_.messages().end(),
                             [](const string& message) {
                               return message.starts_with("No alarm for 5 ");
                             }));
}

TEST_F(GuardTest, SettingsThatMakeNoSenseAreErrors) {
  for (const char* const guard : {"factor: 1", "deviations: 0", "window: 0",
                                  "patience: -1", "recovery: -1"}) {
    EXPECT_THROW(SolverWith(guard), Error) << guard;
  }
}

}  // namespace

}  // namespace caffe
