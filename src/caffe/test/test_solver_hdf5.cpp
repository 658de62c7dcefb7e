#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "solver_snapshot_test.hpp"
#include "util/hdf5_file.hpp"

// Snapshots in HDF5.

namespace caffe {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename TypeParam>
class SolverHdf5Test : public SolverSnapshotTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  string State(int iter) const {
    return SolverSnapshotTest<TypeParam>::State(iter) + ".h5";
  }
  string Model(int iter) const {
    return SolverSnapshotTest<TypeParam>::Model(iter) + ".h5";
  }
  std::unique_ptr<Solver<Dtype>> Make(const string& text = "") const {
    return SolverSnapshotTest<TypeParam>::Make("snapshot_format: HDF5 " + text);
  }
};

TYPED_TEST_SUITE(SolverHdf5Test, TestDtypesAndDevices);

TYPED_TEST(SolverHdf5Test, ResumesExactlyWithEverySolver) {
  this->ExpectExactResumes("snapshot_format: HDF5");
}

TYPED_TEST(SolverHdf5Test, HoldsWhatCaffeReads) {
  typedef typename TypeParam::Dtype Dtype;
  const auto made = this->Make("momentum: 0.5 snapshot: 4 max_iter: 4");
  auto& solver = dynamic_cast<SGDSolver<Dtype>&>(*made);
  const LogRecorder log;
  solver.Solve();
  EXPECT_EQ(1, log.Count("Snapshotting to HDF5 file " + this->Model(4)));
  EXPECT_EQ(
      1, log.Count("Snapshotting solver state to HDF5 file " + this->State(4)));
  EXPECT_THAT(this->folder_.Names(),
              ElementsAre("s_iter_4.caffemodel.h5", "s_iter_4.solverstate.h5"));
  const Hdf5Group file = OpenHdf5(this->State(4));
  EXPECT_EQ(4, hdf5_load_int(file.id(), "iter"));
  EXPECT_EQ(1, hdf5_load_int(file.id(), "current_step"));
  EXPECT_EQ(this->Model(4), hdf5_load_string(file.id(), "learned_net"));
  const Hdf5Group history = file.OpenGroup("history");
  EXPECT_EQ(4, hdf5_get_num_links(history.id()));
  Blob<Dtype> blob;
  hdf5_load_nd_dataset(history.id(), "2", 1, 1, &blob, true);
  EXPECT_EQ(DataOf(*solver.history()[2]), DataOf(blob));
  const Hdf5Group model = OpenHdf5(this->Model(4));
  hdf5_load_nd_dataset(model.id(), "data/affine/1", 1, 1, &blob, true);
  EXPECT_EQ(DataOf(*solver.net()->learnable_params()[3]), DataOf(blob));
}

TYPED_TEST(SolverHdf5Test, ReadsStatesOfCaffe) {
  const auto solver = this->Make();
  solver->Step(2);
  solver->Snapshot();
  {
    Hdf5Output output(this->folder_ / "stock.solverstate.h5");
    const Hdf5Group file = output.root();
    hdf5_save_int(file.id(), "iter", 2);
    hdf5_save_string(file.id(), "learned_net", this->Model(2));
    hdf5_save_int(file.id(), "current_step", 0);
    const Hdf5Group history = file.CreateGroup("history");
    for (int i = 0; i < 4; ++i) {
      hdf5_save_nd_dataset(history.id(), std::to_string(i),
                           *solver->net()->learnable_params()[i]);
    }
    output.Commit();
  }
  const auto resumed = this->Make();
  resumed->Restore((this->folder_ / "stock.solverstate.h5").c_str());
  EXPECT_EQ(2, resumed->iter());
  EXPECT_EQ(WeightsOf(*solver), WeightsOf(*resumed));
  resumed->Step(1);
}

TYPED_TEST(SolverHdf5Test, RefusesWhatCannotBeUsed) {
  const auto solver = this->Make("type: 'Adam'");
  solver->Step(1);
  solver->Snapshot();
  EXPECT_EQ(this->State(1) +
                " has 8 history blobs where the SGD solver of this net has 4: "
                "it was written by another type of solver or for another net",
            this->RestoreError(this->State(1)));
  EXPECT_THAT(this->RestoreError(this->Model(1)),
              HasSubstr("to resume give " + this->State(1)));
  EXPECT_THAT(this->RestoreError(this->folder_ / "missing.h5"),
              HasSubstr("cannot read " + this->folder_ / "missing.h5"));
  std::filesystem::rename(this->Model(1), this->folder_ / "renamed.h5");
  EXPECT_EQ(this->folder_ / "renamed.h5" + " is not the state of a solver",
            this->RestoreError(this->folder_ / "renamed.h5"));
  EXPECT_EQ(this->State(1) + " names the model " + this->Model(1) +
                ", which does not exist",
            this->RestoreError(this->State(1), "type: 'Adam'"));
}

TYPED_TEST(SolverHdf5Test, NothingThatIsCutShortIsAccepted) {
  const auto solver = this->Make();
  solver->Step(1);
  solver->Snapshot();
  for (const string& file : {this->State(1), this->Model(1)}) {
    const string whole = ReadWholeFile(file);
    const size_t step = 1 + whole.size() / 20;
    for (size_t size = 0; size < whole.size(); size += step) {
      WriteWholeFile(file, whole.substr(0, size));
      EXPECT_THAT(this->RestoreError(this->State(1)), HasSubstr(file))
          << size << " of " << whole.size() << " bytes";
    }
    WriteWholeFile(file, whole);
  }
  this->Make()->Restore(this->State(1).c_str());
}

TYPED_TEST(SolverHdf5Test, AFullDiskLeavesThePreviousSnapshotWhole) {
  const auto solver = this->Make();
  solver->Step(1);
  solver->Snapshot();
  const auto before = this->folder_.Names();
  solver->Step(1);
  EXPECT_EXIT(ExitWithErrorOfSnapshot(solver.get(), 100),
              testing::ExitedWithCode(1),
              "cannot write .*s_iter_2.caffemodel.h5: File too large");
  EXPECT_EQ(before, this->folder_.Names());
  this->Make()->Restore(this->State(1).c_str());
}

}  // namespace caffe
