#include <cmath>
#include <string>

#include "caffe/compress/activation_store.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "compressed_training_test_util.hpp"
#include "temporary_folder.hpp"

// Nets with recurrent layers learn, with compressed activations and without.

namespace caffe {

namespace {

// Tells at every step what the input was one step before.
string EchoNet(const string& type) {
  return R"(
    layer { name: 'data' type: 'DummyData' top: 'x' top: 'cont'
            dummy_data_param {
              shape { dim: 6 dim: 64 dim: 2 } shape { dim: 6 dim: 64 }
              data_filler { type: 'uniform' min: -1 max: 1 }
              data_filler { value: 1 } } }
    layer { name: 'past' type: 'Slice' bottom: 'x' top: 'past' top: 'last'
            slice_param { axis: 0 slice_point: 5 } }
    layer { name: 'none' type: 'Silence' bottom: 'last' }
    layer { name: 'cell' type: ')" +
         type + R"(' bottom: 'x' bottom: 'cont' top: 'h'
            recurrent_param { num_output: 64
                              weight_filler { type: 'xavier' } } }
    layer { name: 'echo' type: 'InnerProduct' bottom: 'h' top: 'echo'
            inner_product_param { num_output: 2 axis: 2
                                  weight_filler { type: 'xavier' } } }
    layer { name: 'cut' type: 'Slice' bottom: 'echo' top: 'first' top: 'now'
            slice_param { axis: 0 slice_point: 1 } }
    layer { name: 'none2' type: 'Silence' bottom: 'first' }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'now' bottom: 'past'
            top: 'loss' } )";
}

constexpr char kAdam[] = "type: 'Adam' base_lr: 0.01 momentum2: 0.999 ";

// The mean loss of the last 10 of so many iterations.
double TrainedLoss(const string& type, const string& settings, int iterations) {
  const auto solver =
      MakeSolver<float>(SolverFor(kAdam + settings, "", EchoNet(type)));
  double sum = 0;
  constexpr int kLast = 10;
  for (int i = 0; i < iterations; ++i) {
    solver->Step(1);
    const float loss = solver->net()->blob_by_name("loss")->cpu_data()[0];
    if (i >= iterations - kLast) sum += loss;
  }
  return sum / kLast;
}

class RecurrentTrainingTest : public ::testing::TestWithParam<string> {};

TEST_P(RecurrentTrainingTest, LearnsToEcho) {
  // Of the echo 0: half the squares of 64 x 2 values of variance 1/3.
  const double constant = 64. / 3;
  const double plain = TrainedLoss(GetParam(), "", 150);
  const double compressed = TrainedLoss(GetParam(), "compression { }", 150);
  EXPECT_LT(plain, constant / 10);
  EXPECT_LT(compressed, constant / 10);
}

INSTANTIATE_TEST_SUITE_P(All, RecurrentTrainingTest,
                         ::testing::Values("LSTM", "RNN"),
                         [](const auto& info) { return info.param; });

// States go from batch to batch, and so into snapshots.
TEST_P(RecurrentTrainingTest, ResumedRunsEndWithTheSameBits) {
  const TemporaryFolder folder;
  const auto make = [&] {
    return MakeSolver<float>(
        SolverFor(Concat(kAdam, "snapshot_prefix: '", folder / "s", "' "), "",
                  EchoNet(GetParam())));
  };
  const auto whole = make();
  whole->Step(7);
  const auto first = make();
  first->Step(4);
  first->Snapshot();
  first->Step(1);
  const auto second = make();
  ASSERT_TRUE(second->RestoreNewest());
  second->Step(3);
  EXPECT_EQ(WeightsOf(*whole), WeightsOf(*second));
}

// What the layers inside leave is packed or dropped, too.
TEST(RecurrentMemoryTest, BlobsInsideArePutAway) {
  class Tiny : public PackingPolicy {
   public:
    Packing Choose(const PackRequest& /*request*/) override {
      return {&codec::FindCodec("sz"), {.bound = 100}};
    }
  };
  const auto net = MakeNet<float>(EchoNet("LSTM"));
  const auto memory = boost::make_shared<ActivationMemory>();
  const auto store = ActivationStore<float>::Attach(net.get(), memory,
                                                    boost::make_shared<Tiny>());
  net->Forward();
  const size_t peak = memory->raw.peak();
  const size_t kept = memory->raw.used();
  EXPECT_LT(kept, peak / 4);
  net->Backward();
  EXPECT_EQ(0, memory->raw.used());
  EXPECT_EQ(0, memory->packing.frames().used());
  // And they come back.
  net->ForwardBackward();
  EXPECT_EQ(0, memory->raw.used());
}

}  // namespace

}  // namespace caffe
