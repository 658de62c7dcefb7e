#include <cmath>
#include <string>

#include "caffe/compress/activation_store.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/rng.hpp"
#include "compressed_training_test_util.hpp"
#include "log_recorder.hpp"
#include "temporary_folder.hpp"

// Training with planned and compressed activations, against training without.

namespace caffe {

namespace {

double RelativeDistance(const vector<float>& a, const vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  return std::sqrt(difference / norm);
}

template <typename Dtype>
class CompressedTrainingTest : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CompressedTrainingTest, Dtypes);

TYPED_TEST(CompressedTrainingTest, PlanningChangesNoBit) {
  EXPECT_EQ(TrainedWeights<TypeParam>("", "", 7),
            TrainedWeights<TypeParam>("", "memory { plan: true }", 7));
}

TYPED_TEST(CompressedTrainingTest, CodecNoneChangesNoBit) {
  EXPECT_EQ(TrainedWeights<TypeParam>("", "", 4),
            TrainedWeights<TypeParam>("compression { codec: 'none' }",
                                      "memory { plan: true }", 4));
}

TYPED_TEST(CompressedTrainingTest, LosslessCodecChangesNoBit) {
  EXPECT_EQ(
      TrainedWeights<TypeParam>("", "", 4),
      TrainedWeights<TypeParam>("compression { codec: 'lossless' }", "", 4));
}

TYPED_TEST(CompressedTrainingTest, AveragedGradientsChangeNoBit) {
  EXPECT_EQ(TrainedWeights<TypeParam>("iter_size: 3", "", 3),
            TrainedWeights<TypeParam>(
                "iter_size: 3 compression { codec: 'lossless' }", "", 3));
}

TYPED_TEST(CompressedTrainingTest, CompressedRunsAreReproducible) {
  EXPECT_EQ(TrainedWeights<TypeParam>("compression { }", "", 6),
            TrainedWeights<TypeParam>("compression { }", "", 6));
}

TEST(CompressedTraining, ErrorsAreSmallButThere) {
  for (const char* const rounding : {"DITHER", "NEAREST"}) {
    const vector<float> raw = TrainedWeights<float>("", "", 10);
    const vector<float> compressed = TrainedWeights<float>(
        string("compression { rounding: ") + rounding + " }", "", 10);
    const double distance = RelativeDistance(raw, compressed);
    EXPECT_GT(distance, 0) << rounding;
    EXPECT_LT(distance, 3e-3) << rounding;
  }
}

TEST(CompressedTraining, TakesLessMemoryThanThePlanAlone) {
  // Packs everything into next to nothing.
  class Tiny : public PackingPolicy {
   public:
    Packing Choose(const PackRequest& /*request*/) override {
      return {&codec::FindCodec("sz"), {.bound = 100}};
    }
  };
  const auto peak = [](const shared_ptr<PackingPolicy>& policy) {
    const auto memory = boost::make_shared<ActivationMemory>();
    const auto net = MakeNet<float>(kEveryUseNet);
    ActivationStore<float>::Attach(net.get(), memory, policy);
    net->ForwardBackward();
    EXPECT_EQ(0, memory->packing.frames().used());
    EXPECT_EQ(0, memory->raw.used());
    return memory->raw.peak();
  };
  size_t everything = 0;
  const auto plain = MakeNet<float>(kEveryUseNet);
  for (const auto& blob : plain->blobs()) {
    everything += 2 * blob->count() * sizeof(float);
  }
  const size_t planned = peak(nullptr);
  const size_t packed = peak(boost::make_shared<Tiny>());
  EXPECT_LT(planned, everything * 3 / 4);
  EXPECT_LT(packed, planned * 9 / 10);
}

TEST(CompressedTraining, ReadingWhatWasDroppedFails) {
  const auto solver = MakeSolver<float>(SolverFor("", "memory { plan: true }"));
  solver->Step(1);
  try {
    solver->net()->blob_by_name("conv2a")->cpu_data();
    FAIL() << "gave values that are not there";
  } catch (const Error& error) {
    EXPECT_NE(string(error.what()).find("conv2a"), string::npos);
    EXPECT_NE(string(error.what()).find("plan: false"), string::npos);
  }
}

TEST(CompressedTraining, ReadingWhatIsPackedRestoresIt) {
  const auto raw = MakeSolver<float>(SolverFor("", ""));
  raw->net()->Forward();
  const auto packed = MakeSolver<float>(
      SolverFor("compression { error_bound { estimator: FIXED value: 0.01 "
                "relative: 0.001 } }",
                ""));
  packed->net()->Forward();
  // After the last conv that reads it; what the safe first bound gives.
  const Blob<float>& expected = *raw->net()->blob_by_name("pool");
  const Blob<float>& restored = *packed->net()->blob_by_name("pool");
  ASSERT_TRUE(restored.data()->is_evicted());
  double largest = 0;
  for (int i = 0; i < expected.count(); ++i) {
    const double error =
        std::fabs(expected.cpu_data()[i] - restored.cpu_data()[i]);
    largest = std::max(largest, error);
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(largest, 0.02);
}

TEST(CompressedTraining, ResumedRunsAreThoseThatWereNotStopped) {
  const TemporaryFolder folder;
  const string settings =
      "iter_size: 2 compression { error_bound { interval: 3"
      " } } snapshot_prefix: '" +
      (folder / "s") + "'";
  const auto whole = MakeSolver<float>(SolverFor(settings, ""));
  whole->Step(5);
  whole->Snapshot();
  whole->Step(6);
  const auto resumed = MakeSolver<float>(SolverFor(settings, ""));
  resumed->Restore((folder / "s_iter_5.solverstate").c_str());
  resumed->Step(6);
  EXPECT_EQ(WeightsOf(*whole), WeightsOf(*resumed));
}

TEST(CompressedTraining, TwoSolversDoNotDisturbEachOther) {
  const string settings = "compression { }";
  const vector<float> alone = TrainedWeights<float>(settings, "", 4);
  const auto first = MakeSolver<float>(SolverFor(settings, ""));
  first->Step(2);
  const rng_t random = *caffe_rng();
  const auto second = MakeSolver<float>(SolverFor(settings, ""));
  second->Step(3);
  *caffe_rng() = random;
  first->Step(2);
  EXPECT_EQ(alone, WeightsOf(*first));
}

TEST(CompressedTraining, EverySolverTypeTrains) {
  for (const string type :
       {"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"}) {
    const bool has_momentum = type != "AdaGrad" && type != "RMSProp";
    const string settings = "type: '" + type + "' delta: 1e-6 " +
                            (has_momentum ? "" : "momentum: 0 ");
    const vector<float> raw = TrainedWeights<float>(settings, "", 6);
    const vector<float> compressed =
        TrainedWeights<float>(settings + "compression { }", "", 6);
    const double distance = RelativeDistance(raw, compressed);
    EXPECT_GT(distance, 0) << type;
    EXPECT_LT(distance, 0.05) << type;
  }
}

TEST(CompressedTraining, TestNetsHaveNoParametersOfTheirOwn) {
  const auto solver = MakeSolver<float>(SolverFor("", "memory { plan: true }"));
  const auto plain = MakeSolver<float>(SolverFor("", ""));
  const auto weights = [](const Net<float>& net) {
    return net.layer_by_name("conv1")->blobs()[0]->data();
  };
  EXPECT_EQ(weights(*solver->net()), weights(*solver->test_nets()[0]));
  EXPECT_NE(weights(*plain->net()), weights(*plain->test_nets()[0]));
}

TEST(CompressedTraining, SettingsThatMakeNoSenseAreErrors) {
  const auto error_of = [](const string& settings) -> string {
    try {
      MakeSolver<float>(SolverFor("compression {" + settings + "}", ""));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(error_of("codec: 'zip'").find("zip"), string::npos);
  EXPECT_EQ("compression.error_bound.tolerance must be above 0, not -1",
            error_of("error_bound { tolerance: -1 }"));
  EXPECT_NE(error_of("error_bound { interval: 0 }"), "");
}

TEST(CompressedTraining, TestScoresAreThoseOfPlainNets) {
  const auto scores = [](const string& net_settings) {
    LogRecorder log;
    MakeSolver<float>(SolverFor("", net_settings))->Step(4);
    vector<string> lines = log.Take();
    std::erase_if(lines, [](const string& line) {
      return line.find("Test net output") == string::npos;
    });
    return lines;
  };
  const vector<string> plain = scores("");
  EXPECT_FALSE(plain.empty());
  EXPECT_EQ(plain, scores("memory { plan: true }"));
}

}  // namespace

}  // namespace caffe
