#ifndef CAFFE_TEST_SOLVER_SNAPSHOT_TEST_HPP_
#define CAFFE_TEST_SOLVER_SNAPSHOT_TEST_HPP_

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// What the tests of snapshots, in either format, share.

namespace caffe {

// Random data for training and testing: who forgets a generator, or draws once
// too often, ends with other weights.
constexpr const char* kRandomSolver = R"(net_param {
  name: 'random'
  layer { name: 'data' type: 'DummyData' top: 'x' top: 'target'
          dummy_data_param { shape { dim: 4 dim: 6 }
                             data_filler { type: 'gaussian' std: 2 } } }
  layer { name: 'hidden' type: 'Affine' bottom: 'x' top: 'y'
          power_param { scale: 0.3 } }
  layer { name: 'affine' type: 'Affine' bottom: 'y' top: 'z' }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'z' bottom: 'target' }
} lr_policy: 'multistep' stepvalue: 3 stepvalue: 6 gamma: 0.5 base_lr: 0.05
  random_seed: 7 test_iter: 2 test_interval: 4 average_loss: 3 )";

template <typename TypeParam>
class SolverSnapshotTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // kRandomSolver with some settings changed or added to.
  SolverParameter Parse(const string& text) const {
    SolverParameter param = ParseSolver(
        Concat(kRandomSolver, "snapshot_prefix: '", folder_ / "s", "'"));
    param.MergeFrom(ParseSolver(text));
    return param;
  }
  std::unique_ptr<Solver<Dtype>> Make(const string& text = "") const {
    return MakeSolver<Dtype>(Parse(text));
  }

  string State(int iter) const {
    return folder_ / Concat("s_iter_", iter, ".solverstate");
  }
  string Model(int iter) const {
    return folder_ / Concat("s_iter_", iter, ".caffemodel");
  }
  SolverState ReadState(int iter) const {
    SolverState state;
    ReadProtoFromBinaryFileOrDie(State(iter), &state);
    return state;
  }
  // The error of resuming from the file.
  string RestoreError(const string& file, const string& settings = "") const {
    return ErrorOf([&] { Make(settings)->Restore(file.c_str()); });
  }

  // Trains with every solver, once at a stretch and once with a snapshot in
  // between, and compares.
  void ExpectExactResumes(const string& settings) const {
    for (const char* const type :
         {"type: 'SGD' momentum: 0.9", "type: 'Nesterov' momentum: 0.9",
          "type: 'AdaGrad'", "type: 'RMSProp'",
          "type: 'AdaDelta' momentum: 0.9", "type: 'Adam' momentum: 0.9"}) {
      for (const int at : {1, 4, 7}) {
        SCOPED_TRACE(Concat(type, " at ", at));
        const auto whole = Make(type);
        whole->Step(9);
        const auto first = Make(Concat(type, " ", settings));
        first->Step(at);
        first->Snapshot();
        // Time passes, and the generator goes on.
        first->Step(2);
        const auto second = Make(type);
        ASSERT_TRUE(second->RestoreNewest());
        EXPECT_EQ(at, second->iter());
        second->Step(9 - at);
        EXPECT_EQ(WeightsOf(*whole), WeightsOf(*second));
        EXPECT_EQ(whole->smoothed_loss(), second->smoothed_loss());
        RemoveAll();
      }
    }
  }

  void RemoveAll() const {
    for (const string& name : folder_.Names()) {
      std::filesystem::remove(folder_ / name);
    }
  }

  const TemporaryFolder folder_;
};

// A limit on the size of files stands in for a full disk: write() fails.
template <typename Dtype>
[[noreturn]] void ExitWithErrorOfSnapshot(Solver<Dtype>* solver,
                                          size_t max_bytes) {
  const rlimit limit = {max_bytes, max_bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    solver->Snapshot();
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    std::_Exit(1);
  }
  std::_Exit(0);
}

}  // namespace caffe

#endif  // CAFFE_TEST_SOLVER_SNAPSHOT_TEST_HPP_
