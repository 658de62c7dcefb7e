#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// The training loop: what happens when, and what it says.

namespace caffe {

namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

// One weight w; the loss is (w * 2 + 0 - 6)^2 / 2 with gradient 2 (2 w - 6).
constexpr const char* kNet = R"(net_param {
  name: 'one'
  layer { name: 'x' type: 'DummyData' top: 'x'
          dummy_data_param { shape { dim: 1 dim: 1 }
                             data_filler { value: 2 } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 1 dim: 1 }
                             data_filler { value: 6 } } }
  layer { name: 'affine' type: 'Affine' bottom: 'x' top: 'y'
          power_param { scale: 1 } param {} param { lr_mult: 0 } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target'
          top: 'loss' }
} lr_policy: 'fixed' base_lr: 0.125 snapshot_after_train: false )";

// Halves the error in every iteration: w = 3 - 2^(1 - iter).
double WeightAfter(int iter) { return 3 - std::pow(2, 1 - iter); }
double LossAt(int iter) { return 2 * std::pow(3 - WeightAfter(iter), 2); }

}  // namespace

template <typename TypeParam>
class SolverTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  static std::unique_ptr<Solver<Dtype>> Make(const string& text) {
    return MakeSolver<Dtype>(ParseSolver(kNet + text));
  }
  static double Weight(Solver<Dtype>& solver) {
    return solver.net()->learnable_params()[0]->cpu_data()[0];
  }
};

TYPED_TEST_SUITE(SolverTest, TestDtypesAndDevices);

// Notes what it is told, together with the iteration.
template <typename Dtype>
class EventRecorder : public Solver<Dtype>::Callback {
 public:
  explicit EventRecorder(Solver<Dtype>* solver) : solver_(solver) {
    solver->add_callback(this);
  }
  vector<string> events;

 protected:
  void on_start() override { Note("start", 0); }
  void on_gradients_ready() override {
    Note("ready", solver_->net()->learnable_params()[0]->cpu_diff()[0]);
  }

 private:
  void Note(const char* what, Dtype gradient) {
    events.push_back(Concat(what, " ", solver_->iter(), " ", gradient));
  }
  Solver<Dtype>* const solver_;
};

TYPED_TEST(SolverTest, StepsAddUp) {
  const auto solver = this->Make("");
  EXPECT_EQ(1, this->Weight(*solver));
  solver->Step(1);
  EXPECT_NEAR(WeightAfter(1), this->Weight(*solver), 1e-6);
  solver->Step(3);
  EXPECT_EQ(4, solver->iter());
  EXPECT_NEAR(WeightAfter(4), this->Weight(*solver), 1e-6);
  solver->Step(0);
  solver->Step(-5);
  EXPECT_EQ(4, solver->iter());
}

TYPED_TEST(SolverTest, SolveStopsAtMaxIter) {
  const auto solver = this->Make("max_iter: 3");
  solver->Step(1);
  const LogRecorder log;
  solver->Solve();
  EXPECT_EQ(3, solver->iter());
  EXPECT_NEAR(WeightAfter(3), this->Weight(*solver), 1e-6);
  EXPECT_THAT(log.messages(),
              ElementsAre("Solving one", "Learning Rate Policy: fixed",
                          "Optimization Done."));
}

TYPED_TEST(SolverTest, CallbacksSeeEveryIterationAndItsGradient) {
  typedef typename TypeParam::Dtype Dtype;
  const auto solver = this->Make("");
  EventRecorder<Dtype> recorder(solver.get());
  EXPECT_EQ(1u, solver->callbacks().size());
  solver->Step(2);
  EXPECT_THAT(recorder.events, ElementsAre("start 0 0", "ready 0 -8",
                                           "start 1 0", "ready 1 -4"));
}

TYPED_TEST(SolverTest, DisplaysWhatLogParsersRead) {
  const auto solver = this->Make("display: 2 max_iter: 4");
  const LogRecorder log;
  solver->Solve();
  const string number = "[-+.e0-9]+";
  const string rate =
      " \\(" + number + " iter/s, " + number + "s/2 iters\\), loss = ";
  EXPECT_THAT(
      log.messages(),
      ElementsAre("Solving one", "Learning Rate Policy: fixed",
                  MatchesRegex("Iteration 0" + rate + "8"),
                  "    Train net output #0: loss = 8 (* 1 = 8 loss)",
                  "Iteration 0, lr = 0.125",
                  MatchesRegex("Iteration 2" + rate + "0.5"),
                  "    Train net output #0: loss = 0.5 (* 1 = 0.5 loss)",
                  "Iteration 2, lr = 0.125", "Iteration 4, loss = 0.03125",
                  "Optimization Done."));
}

TYPED_TEST(SolverTest, DisplaysTheMeanOfTheLastLosses) {
  const auto solver = this->Make("average_loss: 3");
  solver->Step(2);
  EXPECT_NEAR((LossAt(0) + LossAt(1)) / 2, solver->smoothed_loss(), 1e-5);
  // Every call starts anew.
  solver->Step(1);
  EXPECT_NEAR(LossAt(2), solver->smoothed_loss(), 1e-5);
  const auto longer = this->Make("average_loss: 3");
  longer->Step(6);
  EXPECT_NEAR((LossAt(3) + LossAt(4) + LossAt(5)) / 3, longer->smoothed_loss(),
              1e-5);
  EXPECT_EQ("average_loss must be at least 1, not 0",
            ErrorOf([&] { this->Make("average_loss: 0"); }));
}

TYPED_TEST(SolverTest, IterSizeAveragesTheLoss) {
  const auto solver = this->Make("iter_size: 4");
  solver->Step(1);
  EXPECT_NEAR(LossAt(0), solver->smoothed_loss(), 1e-5);
  EXPECT_NEAR(WeightAfter(1), this->Weight(*solver), 1e-6);
}

TYPED_TEST(SolverTest, TestsAtIntervalsAndAtTheEnd) {
  const auto solver = this->Make("test_iter: 3 test_interval: 2 max_iter: 4");
  const LogRecorder log;
  solver->Solve();
  vector<string> tests;
  for (const string& message : log.messages()) {
    if (message.find("est") != string::npos) tests.push_back(message);
  }
  EXPECT_THAT(
      tests,
      ElementsAre("Iteration 0, Testing net (#0)",
                  "    Test net output #0: loss = 8 (* 1 = 8 loss)",
                  "Iteration 2, Testing net (#0)",
                  "    Test net output #0: loss = 0.5 (* 1 = 0.5 loss)",
                  "Iteration 4, Testing net (#0)",
                  "    Test net output #0: loss = 0.03125 (* 1 = 0.03125 "
                  "loss)"));
}

TYPED_TEST(SolverTest, TestsAllNetsWithTheTrainedWeights) {
  const auto solver = this->Make(R"(
    test_interval: 1 test_iter: 2 test_iter: 1 test_initialization: false
    test_compute_loss: true
    test_net_param {
      layer { name: 'x' type: 'DummyData' top: 'x'
              dummy_data_param { shape { dim: 1 dim: 1 }
                                 data_filler { value: 10 } } }
      layer { name: 'affine' type: 'Affine' bottom: 'x' top: 'y' } })");
  const LogRecorder log;
  solver->Step(2);
  // Trained to 2 when it was tested; the test net without loss is first.
  EXPECT_EQ(0, log.Count("Iteration 0, Testing net (#0)"));
  EXPECT_EQ(1, log.Count("Iteration 1, Testing net (#0)"));
  EXPECT_EQ(1, log.Count("Test loss: 0"));
  EXPECT_EQ(1, log.Count("    Test net output #0: y = 20"));
  EXPECT_EQ(1, log.Count("Iteration 1, Testing net (#1)"));
  EXPECT_EQ(1, log.Count("Test loss: 2"));
  EXPECT_EQ(1, log.Count("    Test net output #0: loss = 2 (* 1 = 2 loss)"));
}

TYPED_TEST(SolverTest, TestScoresAreMeansOverBatches) {
  typedef typename TypeParam::Dtype Dtype;
  const auto solver = this->Make(R"(
    test_interval: 1 test_iter: 50 random_seed: 3
    test_net_param {
      layer { name: 'x' type: 'DummyData' top: 'x' top: 'two'
              dummy_data_param {
                shape { dim: 1 } shape { dim: 2 }
                data_filler { type: 'uniform' min: 0 max: 1 }
                data_filler { value: 4 } } } })");
  const LogRecorder log;
  solver->Step(1);
  EXPECT_TRUE(log.Has("    Test net output #0: two = 4"));
  EXPECT_TRUE(log.Has("    Test net output #1: two = 4"));
  const string prefix = "    Test net output #2: x = ";
  double mean = 0;
  for (const string& message : log.messages()) {
    if (message.starts_with(prefix)) {
      mean = std::stod(message.substr(prefix.size()));
    }
  }
  EXPECT_NEAR(0.5, mean, 0.15);
  // The last batch alone is not the mean.
  EXPECT_NE(Dtype(mean),
            solver->test_nets()[0]->blob_by_name("x")->data_at(vector<int>{0}));
}

TYPED_TEST(SolverTest, DebugInfoOnlyAtIterationsThatDisplay) {
  const auto solver = this->Make("display: 2 debug_info: true");
  const auto debug_lines = [&](int iters) {
    const LogRecorder log;
    solver->Step(iters);
    int count = 0;
    for (const string& message : log.messages()) {
      if (message.find("[Forward]") != string::npos) ++count;
    }
    return count;
  };
  EXPECT_LT(0, debug_lines(1));
  EXPECT_EQ(0, debug_lines(1));
  EXPECT_LT(0, debug_lines(1));
}

TYPED_TEST(SolverTest, StopsWhenAsked) {
  const auto solver = this->Make("max_iter: 100");
  int calls = 0;
  solver->SetActionFunction(
      [&] { return ++calls == 5 ? SolverAction::STOP : SolverAction::NONE; });
  const LogRecorder log;
  solver->Solve();
  EXPECT_EQ(5, solver->iter());
  EXPECT_TRUE(log.Has("Optimization stopped early."));
  EXPECT_FALSE(log.Has("Optimization Done."));
  // It may go on afterwards.
  solver->Solve();
  EXPECT_EQ(100, solver->iter());
}

TYPED_TEST(SolverTest, StopsInTheMiddleOfATest) {
  const auto solver =
      this->Make("max_iter: 100 test_interval: 3 test_iter: 1000");
  int calls = 0;
  solver->SetActionFunction([&] {
    return ++calls == 1500 ? SolverAction::STOP : SolverAction::NONE;
  });
  const LogRecorder log;
  solver->Solve();
  EXPECT_EQ(3, solver->iter());
  EXPECT_TRUE(log.Has("Test interrupted."));
  EXPECT_EQ(1500, calls);
}

TYPED_TEST(SolverTest, SnapshotsWhenAskedWhileTrainingAndTesting) {
  const TemporaryFolder folder;
  const auto solver = this->Make(
      "max_iter: 4 test_interval: 2 test_iter: 3 "
      "snapshot_prefix: '" +
      folder / "s" + "'");
  // Three tests, an iteration, another, three tests: calls 4 and 7.
  int calls = 0;
  solver->SetActionFunction([&] {
    ++calls;
    return calls == 4 || calls == 7 ? SolverAction::SNAPSHOT
                                    : SolverAction::NONE;
  });
  solver->Solve();
  EXPECT_EQ(4, solver->iter());
  EXPECT_THAT(folder.Names(),
              ElementsAre("s_iter_1.caffemodel", "s_iter_1.solverstate",
                          "s_iter_2.caffemodel", "s_iter_2.solverstate"));
}

TYPED_TEST(SolverTest, FailsAtOnceWhenSnapshotsCannotBeWritten) {
  EXPECT_EQ("a snapshot needs a name: the solver has no snapshot_prefix",
            ErrorOf([&] { this->Make("snapshot: 5"); }));
  EXPECT_NE(string::npos, ErrorOf([&] {
                            this->Make(
                                "snapshot: 5 snapshot_prefix: "
                                "'/no/such/folder/x'");
                          }).find("/no/such/folder/x_iter_0.solverstate"));
  SolverParameter param = ParseSolver(string(kNet) + "max_iter: 1");
  param.clear_snapshot_after_train();
  typedef typename TypeParam::Dtype Dtype;
  SGDSolver<Dtype> solver(param);
  EXPECT_THROW(solver.Solve(), Error);
  EXPECT_EQ(0, solver.iter());
  solver.Step(1);
}

}  // namespace caffe
