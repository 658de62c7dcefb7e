#include <fstream>
#include <string>
#include <vector>

#include "caffe/compress/compressed_blob.hpp"
#include "caffe/memory/arena.hpp"
#include "caffe/memory/ledger.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "solver_test_util.hpp"

namespace caffe::memory {

namespace {

size_t Of(const Sums& sums, Kind kind) {
  return sums[static_cast<size_t>(kind)];
}

TEST(LedgerTest, AddsUpByKind) {
  Ledger ledger;
  const int a = 0, b = 0, c = 0;
  ledger.Add(&a, 100, {Kind::kParameters, "a"});
  ledger.Add(&b, 30, {Kind::kGradients, "b"});
  ledger.Add(&c, 5, {Kind::kGradients, "c"});
  EXPECT_EQ(135, TotalOf(ledger.live()));
  EXPECT_EQ(35, Of(ledger.live(), Kind::kGradients));
  ledger.Remove(&b);
  EXPECT_EQ(5, Of(ledger.live(), Kind::kGradients));
  EXPECT_EQ(35, Of(ledger.peak(), Kind::kGradients));
  EXPECT_EQ(135, TotalOf(ledger.peak()));
  // Entered again: it replaces what was there.
  ledger.Add(&a, 40, {Kind::kOptimizer, "a"});
  EXPECT_EQ(0, Of(ledger.live(), Kind::kParameters));
  EXPECT_EQ(45, TotalOf(ledger.live()));
  ledger.ResetPeak();
  EXPECT_EQ(45, TotalOf(ledger.peak()));
  ledger.Remove(&b);
  const std::vector<Ledger::Entry> entries = ledger.Entries();
  ASSERT_EQ(2, entries.size());
  EXPECT_EQ("a", entries[0].label.name);
  EXPECT_EQ(40, entries[0].bytes);
}

TEST(LedgerTest, DescribesTheLargestFirst) {
  Ledger ledger;
  const int a = 0, b = 0;
  ledger.Add(&a, 1500000, {Kind::kPacked, ""});
  ledger.Add(&b, 2000000, {Kind::kWorkspace, ""});
  EXPECT_EQ("3.5 MB: workspace 2.0, packed 1.5", Describe(ledger.live()));
}

TEST(LedgerTest, KnowsArenasAndBlobs) {
  Ledger& ledger = Ledger::Get();
  const Sums before = ledger.live();
  {
    Arena arena;
    void* const block = arena.Allocate(1 << 20, {Kind::kPacked, "x"});
    EXPECT_EQ(1 << 20,
              Of(ledger.live(), Kind::kPacked) - Of(before, Kind::kPacked));
    arena.Free(block);
    EXPECT_EQ(1 << 20,
              Of(ledger.live(), Kind::kIdle) - Of(before, Kind::kIdle));
    Blob<float> blob(vector<int>{1000});
    blob.SetLabel(Kind::kParameters, "weights");
    blob.mutable_cpu_data();
    blob.mutable_cpu_diff();
    EXPECT_EQ(4000, Of(ledger.live(), Kind::kParameters) -
                        Of(before, Kind::kParameters));
    EXPECT_EQ(4000, Of(ledger.live(), Kind::kParameterGradients) -
                        Of(before, Kind::kParameterGradients));
    Blob<float> values(vector<int>{500});
    values.SetLabel(Kind::kActivations, "values");
    values.mutable_cpu_diff();
    EXPECT_EQ(2000, Of(ledger.live(), Kind::kGradients) -
                        Of(before, Kind::kGradients));
    // What it is for outlives the memory.
    blob.Reshape({2000});
    blob.mutable_cpu_data();
    EXPECT_EQ(8000, Of(ledger.live(), Kind::kParameters) -
                        Of(before, Kind::kParameters));
  }
  EXPECT_EQ(before, ledger.live());
}

TEST(LedgerTest, KnowsTheScratchOfPacking) {
  Ledger& ledger = Ledger::Get();
  const Sums before = ledger.live();
  {
    PackingRoom room;
    CompressedBlob blob(&room, "x");
    const std::vector<float> values(100000, 1.5F);
    blob.Pack({values.data(), codec::Shape({100000})}, codec::FindCodec("sz"),
              {.bound = 0.1});
    const size_t workspace =
        Of(ledger.live(), Kind::kWorkspace) - Of(before, Kind::kWorkspace);
    EXPECT_GT(workspace, 0);
    EXPECT_EQ(room.scratch_bytes(), workspace);
  }
  EXPECT_EQ(before, ledger.live());
}

// Runs in a process of its own, as all tests of a program do under ctest: what
// others have used would count.
TEST(LedgerTest, AgreesWithTheProcess) {
  const size_t empty = PeakOfProcess();
  Ledger::Get().ResetPeak();
  const size_t known = TotalOf(Ledger::Get().live());
  // 157 MB of weights, and 80 MB of activations.
  const auto solver = MakeSolver<float>(ParseSolver(R"(
    base_lr: 0.01 momentum: 0.9 lr_policy: 'fixed' random_seed: 7
    snapshot_after_train: false compression { }
    net_param {
      layer { name: 'data' type: 'DummyData' top: 'data'
              dummy_data_param { shape { dim: 64 dim: 3 dim: 96 dim: 96 }
                                 data_filler { type: 'gaussian' } } }
      layer { name: 'target' type: 'DummyData' top: 'target'
              dummy_data_param { shape { dim: 64 dim: 1000 } } }
      layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
              convolution_param { num_output: 32 kernel_size: 3
                                  weight_filler { type: 'xavier' } } }
      layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
      layer { name: 'pool' type: 'Pooling' bottom: 'conv' top: 'pool'
              pooling_param { kernel_size: 3 stride: 3 } }
      layer { name: 'ip' type: 'InnerProduct' bottom: 'pool' top: 'ip'
              inner_product_param { num_output: 1000
                                    weight_filler { type: 'xavier' } } }
      layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'target'
              top: 'loss' } })"));
  solver->Step(2);
  const auto ours = static_cast<double>(TotalOf(Ledger::Get().peak()) - known);
  const auto processes = static_cast<double>(PeakOfProcess() - empty);
  EXPECT_NEAR(1, ours / processes, 0.05)
      << Describe(Ledger::Get().peak()) << "; process: " << processes;
}

}  // namespace

}  // namespace caffe::memory
