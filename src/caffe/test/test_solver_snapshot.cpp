#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/io.hpp"
#include "solver_snapshot_test.hpp"

// Snapshots: what is in them, that training goes on from them as if nothing had
// happened, and what is said of files that cannot be used.

namespace caffe {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

}  // namespace

TYPED_TEST_SUITE(SolverSnapshotTest, TestDtypesAndDevices);

TYPED_TEST(SolverSnapshotTest, FilesAreNamedByIteration) {
  const auto solver = this->Make("snapshot: 2 max_iter: 5");
  solver->Solve();
  EXPECT_THAT(this->folder_.Names(),
              ElementsAre("s_iter_2.caffemodel", "s_iter_2.solverstate",
                          "s_iter_4.caffemodel", "s_iter_4.solverstate",
                          "s_iter_5.caffemodel", "s_iter_5.solverstate"));
}

TYPED_TEST(SolverSnapshotTest, NotTwiceAtTheEndAndNotUnlessWanted) {
  this->Make("snapshot: 2 max_iter: 4")->Step(1);
  EXPECT_THAT(this->folder_.Names(), IsEmpty());
  this->Make("max_iter: 3 snapshot_after_train: false")->Solve();
  EXPECT_THAT(this->folder_.Names(), IsEmpty());
  const LogRecorder log;
  this->Make("snapshot: 2 max_iter: 2")->Solve();
  EXPECT_EQ(1,
            log.Count("Snapshotting to binary proto file " + this->Model(2)));
  EXPECT_EQ(1, log.Count("Snapshotting solver state to binary proto file " +
                         this->State(2)));
}

TYPED_TEST(SolverSnapshotTest, HoldsWhatCaffeReads) {
  typedef typename TypeParam::Dtype Dtype;
  SGDSolver<Dtype> solver(this->Parse("momentum: 0.5"));
  solver.Step(4);
  solver.Snapshot();
  const SolverState state = this->ReadState(4);
  EXPECT_EQ(4, state.iter());
  EXPECT_EQ(this->Model(4), state.learned_net());
  EXPECT_EQ(1, state.current_step());
  ASSERT_EQ(4, state.history_size());
  Blob<Dtype> history;
  history.FromProto(state.history(2));
  EXPECT_EQ(DataOf(*solver.history()[2]), DataOf(history));

  NetParameter net;
  ReadProtoFromBinaryFileOrDie(state.learned_net(), &net);
  ASSERT_EQ(4, net.layer_size());
  EXPECT_EQ("affine", net.layer(2).name());
  ASSERT_EQ(2, net.layer(2).blobs_size());
  Blob<Dtype> weights;
  weights.FromProto(net.layer(2).blobs(0));
  EXPECT_EQ(DataOf(*solver.net()->learnable_params()[2]), DataOf(weights));
  EXPECT_EQ(0, net.layer(2).blobs(0).diff_size());
  EXPECT_EQ(0, net.layer(2).blobs(0).double_diff_size());
}

TYPED_TEST(SolverSnapshotTest, HoldsGradientsWhenAsked) {
  typedef typename TypeParam::Dtype Dtype;
  const auto solver = this->Make("snapshot_diff: true");
  solver->Step(1);
  solver->Snapshot();
  NetParameter net;
  ReadProtoFromBinaryFileOrDie(this->Model(1), &net);
  Blob<Dtype> weights;
  weights.FromProto(net.layer(2).blobs(0));
  EXPECT_EQ(DiffOf(*solver->net()->learnable_params()[2]), DiffOf(weights));
  EXPECT_NE(0, weights.asum_diff());
}

TYPED_TEST(SolverSnapshotTest, ResumesExactlyWithEverySolver) {
  this->ExpectExactResumes("");
}

TYPED_TEST(SolverSnapshotTest, SolveResumes) {
  const auto whole = this->Make("max_iter: 6 snapshot: 3");
  whole->Solve();
  const auto resumed = this->Make("max_iter: 6");
  resumed->Solve(this->State(3));
  EXPECT_EQ(WeightsOf(*whole), WeightsOf(*resumed));
}

TYPED_TEST(SolverSnapshotTest, ResumesExactlyFromTheMiddleOfATest) {
  const auto whole = this->Make();
  whole->Step(9);
  for (const auto action : {SolverAction::SNAPSHOT, SolverAction::STOP}) {
    const auto first = this->Make("max_iter: 9");
    // Two test batches at iteration 0, four iterations, and the first batch
    // of the next test has been seen.
    int calls = 0;
    first->SetActionFunction(
        [&] { return ++calls == 8 ? action : SolverAction::NONE; });
    first->Solve();
    EXPECT_EQ(action == SolverAction::STOP ? 4 : 9, first->iter());
    const auto second = this->Make();
    second->Restore(this->State(4).c_str());
    second->Step(5);
    EXPECT_EQ(WeightsOf(*whole), WeightsOf(*second));
    std::filesystem::remove(this->State(4));
  }
}

TYPED_TEST(SolverSnapshotTest, ReadsStatesOfCaffe) {
  const auto solver = this->Make("momentum: 0.5");
  solver->Step(4);
  solver->Snapshot();
  SolverState state = this->ReadState(4);
  state.clear_resume();
  WriteProtoToBinaryFile(state, this->State(4));
  const auto resumed = this->Make("momentum: 0.5");
  resumed->Restore(this->State(4).c_str());
  EXPECT_EQ(4, resumed->iter());
  EXPECT_EQ(WeightsOf(*solver), WeightsOf(*resumed));
  resumed->Step(1);
  // Without the weights, only the rest is restored.
  state.clear_learned_net();
  WriteProtoToBinaryFile(state, this->State(4));
  const auto untrained = this->Make("momentum: 0.5");
  const auto weights = WeightsOf(*untrained);
  untrained->Restore(this->State(4).c_str());
  EXPECT_EQ(4, untrained->iter());
  EXPECT_EQ(weights, WeightsOf(*untrained));
}

TYPED_TEST(SolverSnapshotTest, FindsTheModelBesideTheStateAfterAMove) {
  const auto solver = this->Make();
  solver->Step(2);
  solver->Snapshot();
  const string elsewhere = this->folder_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  for (const string& name : {this->State(2), this->Model(2)}) {
    std::filesystem::rename(name,
                            elsewhere / std::filesystem::path(name).filename());
  }
  const auto resumed = this->Make();
  resumed->Restore((elsewhere + "/s_iter_2.solverstate").c_str());
  EXPECT_EQ(WeightsOf(*solver), WeightsOf(*resumed));
  std::filesystem::remove(elsewhere + "/s_iter_2.caffemodel");
  EXPECT_EQ(elsewhere + "/s_iter_2.solverstate names the model " +
                this->Model(2) + ", which does not exist",
            this->RestoreError(elsewhere + "/s_iter_2.solverstate"));
}

TYPED_TEST(SolverSnapshotTest, ExplainsThatAModelIsNotAState) {
  const auto solver = this->Make();
  solver->Snapshot();
  EXPECT_EQ(this->Model(0) +
                " holds the weights of a net, not the state of a solver; to "
                "resume give " +
                this->State(0) +
                ", or start from these weights with --weights (in a solver: "
                "weights)",
            this->RestoreError(this->Model(0)));
  EXPECT_EQ(
      "some.caffemodel.h5 holds the weights of a net, not the state of a "
      "solver; to resume give a .solverstate file, or start from these "
      "weights with --weights (in a solver: weights)",
      this->RestoreError("some.caffemodel.h5"));
  // By another name it does not hold what a state holds.
  std::filesystem::rename(this->Model(0), this->folder_ / "renamed");
  EXPECT_THAT(this->RestoreError(this->folder_ / "renamed"),
              HasSubstr(this->folder_ / "renamed"));
}

TYPED_TEST(SolverSnapshotTest, RefusesWhatIsNoState) {
  EXPECT_THAT(this->RestoreError(this->folder_ / "missing"),
              HasSubstr(this->folder_ / "missing"));
  const string file = this->folder_ / "file";
  WriteWholeFile(file, "");
  EXPECT_THAT(this->RestoreError(file), HasSubstr(file));
  WriteWholeFile(file, "base_lr: 0.1");
  EXPECT_THAT(this->RestoreError(file), HasSubstr(file));
  SolverState state;
  state.set_current_step(0);
  WriteProtoToBinaryFile(state, file);
  EXPECT_EQ(file + " is not the state of a solver", this->RestoreError(file));
  state.set_iter(-1);
  WriteProtoToBinaryFile(state, file);
  EXPECT_EQ(file + " is not the state of a solver", this->RestoreError(file));
}

TYPED_TEST(SolverSnapshotTest, NothingThatIsCutShortIsAccepted) {
  const auto solver = this->Make("momentum: 0.5");
  solver->Step(1);
  solver->Snapshot();
  for (const string& file : {this->State(1), this->Model(1)}) {
    const string whole = ReadWholeFile(file);
    const size_t step = 1 + whole.size() / 50;
    for (size_t size = 0; size < whole.size(); size += step) {
      WriteWholeFile(file, whole.substr(0, size));
      const auto resumed = this->Make("momentum: 0.5");
      EXPECT_THROW(resumed->Restore(this->State(1).c_str()), Error)
          << file << " with " << size << " of " << whole.size() << " bytes";
    }
    WriteWholeFile(file, whole);
  }
  solver->Restore(this->State(1).c_str());
}

TYPED_TEST(SolverSnapshotTest, RefusesAModelFromElsewhere) {
  const auto solver = this->Make();
  solver->Step(1);
  solver->Snapshot();
  const string model = ReadWholeFile(this->Model(1));
  const auto other = this->Make("base_lr: 0.01");
  other->Step(1);
  other->Snapshot();
  WriteWholeFile(this->Model(1), model);
  EXPECT_EQ(this->Model(1) + " does not give this net the weights that " +
                this->State(1) +
                " was written with: it is damaged or from another run, or the "
                "net has changed; to start from it anyway, use --weights",
            this->RestoreError(this->State(1)));
}

TYPED_TEST(SolverSnapshotTest, RefusesStatesOfOtherSolversAndNets) {
  const auto solver = this->Make("type: 'Adam'");
  solver->Step(1);
  solver->Snapshot();
  EXPECT_EQ(this->State(1) +
                " has 8 history blobs where the SGD solver of this net has 4: "
                "it was written by another type of solver or for another net",
            this->RestoreError(this->State(1)));
  SolverState state = this->ReadState(1);
  state.mutable_history(3)->mutable_shape()->set_dim(0, 5);
  WriteProtoToBinaryFile(state, this->State(1));
  EXPECT_THAT(this->RestoreError(this->State(1), "type: 'Adam'"),
              HasSubstr(this->State(1) + ": history blob 3: "));
}

TYPED_TEST(SolverSnapshotTest, RefusesNamesThatCannotBeThoseOfFiles) {
  const auto solver = this->Make();
  solver->Snapshot();
  for (const string& name : {string(), string(10000, 'x'), string("a\0b", 3),
                             this->folder_.path()}) {
    SolverState state = this->ReadState(0);
    state.set_learned_net(name);
    WriteProtoToBinaryFile(state, this->State(0));
    EXPECT_THROW(solver->Restore(this->State(0).c_str()), Error) << name;
  }
}

TYPED_TEST(SolverSnapshotTest, GoesOnWithOtherTestNets) {
  const auto solver = this->Make();
  solver->Step(2);
  solver->Snapshot();
  const auto resumed = this->Make("test_iter: 3");
  resumed->Restore(this->State(2).c_str());
  EXPECT_EQ(WeightsOf(*solver), WeightsOf(*resumed));
  resumed->Step(3);
}

TYPED_TEST(SolverSnapshotTest, TakesTheNewestThatIsGood) {
  const auto solver = this->Make();
  EXPECT_FALSE(solver->RestoreNewest());
  for (const int iter : {2, 9, 10}) {
    solver->Step(iter - solver->iter());
    solver->Snapshot();
  }
  // Of another run, or no states at all.
  for (const char* const name :
       {"t_iter_99.solverstate", "s_iter_98.caffemodel",
        "s_iter_97.solverstate.tmp-1-0", "s_iter_.solverstate",
        "s_iter_123456789012345678901234567890.solverstate",
        "s_iter_x5.solverstate"}) {
    WriteWholeFile(this->folder_ / name, "?");
  }
  const auto resumed = this->Make();
  EXPECT_TRUE(resumed->RestoreNewest());
  EXPECT_EQ(10, resumed->iter());

  std::filesystem::resize_file(this->Model(10), 100);
  {
    const LogRecorder log;
    EXPECT_TRUE(resumed->RestoreNewest());
    EXPECT_EQ(9, resumed->iter());
    EXPECT_THAT(log.messages(), ::testing::Contains(::testing::AllOf(
                                    HasSubstr("Skipping a snapshot that "
                                              "cannot be used: "),
                                    HasSubstr(this->Model(10)))));
  }
  std::filesystem::remove(this->Model(9));
  WriteWholeFile(this->State(2), "damaged");
  EXPECT_THAT(ErrorOf([&] { resumed->RestoreNewest(); }),
              HasSubstr("none of the 3 snapshot(s) under " +
                        this->folder_ / "s" + " can be used; the newest: "));
}

TYPED_TEST(SolverSnapshotTest, NewestInAFolderThatIsNotThere) {
  const auto solver = this->Make("snapshot_prefix: 'no/such/folder/s'");
  EXPECT_FALSE(solver->RestoreNewest());
}

TYPED_TEST(SolverSnapshotTest, AFullDiskLeavesThePreviousSnapshotWhole) {
  const auto solver = this->Make();
  solver->Step(1);
  solver->Snapshot();
  const auto before = this->folder_.Names();
  const auto weights = WeightsOf(*solver);
  solver->Step(1);
  EXPECT_EXIT(ExitWithErrorOfSnapshot(solver.get(), 100),
              testing::ExitedWithCode(1),
              "cannot write .*s_iter_2.caffemodel: File too large");
  EXPECT_EQ(before, this->folder_.Names());
  // The state, with the generator's, is larger than the model of this net.
  const size_t model_size = std::filesystem::file_size(this->Model(1));
  EXPECT_EXIT(ExitWithErrorOfSnapshot(solver.get(), model_size + 10),
              testing::ExitedWithCode(1),
              "cannot write .*s_iter_2.solverstate: File too large");
  EXPECT_THAT(this->folder_.Names(),
              ElementsAre("s_iter_1.caffemodel", "s_iter_1.solverstate",
                          "s_iter_2.caffemodel"));
  const auto resumed = this->Make();
  EXPECT_TRUE(resumed->RestoreNewest());
  EXPECT_EQ(1, resumed->iter());
  EXPECT_EQ(weights, WeightsOf(*resumed));
}

}  // namespace caffe
