#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "solver_test_util.hpp"
#include "temporary_folder.hpp"

// Which nets a solver makes of its settings, in which state.

namespace caffe {

namespace {

// Its layers tell in which state it was built.
constexpr const char* kNet = R"(
  name: 'told'
  layer { name: 'data' type: 'DummyData' top: 'x' top: 'target'
          dummy_data_param { shape { dim: 2 dim: 3 } } }
  layer { name: 'affine' type: 'Affine' bottom: 'x' top: 'y' }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target' }
  layer { name: 'train_only' type: 'Split' bottom: 'x' top: 't'
          include { phase: TRAIN } }
  layer { name: 'test_only' type: 'Split' bottom: 'x' top: 'u'
          include { phase: TEST } }
  layer { name: 'staged' type: 'Split' bottom: 'x' top: 'v'
          include { stage: 'extra' } }
  layer { name: 'level_two' type: 'Split' bottom: 'x' top: 'w'
          include { min_level: 2 } })";

}  // namespace

template <typename TypeParam>
class SolverNetsTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  SolverNetsTest() : file_(folder_ / "net.prototxt") {
    WriteWholeFile(file_, kNet);
  }

  // The settings with `FILE` standing for a file with the net, and `NET` for
  // the net itself.
  SolverParameter Parse(string text) const {
    for (size_t at; (at = text.find("FILE")) != string::npos;) {
      text.replace(at, 4, "'" + file_ + "'");
    }
    for (size_t at; (at = text.find("NET")) != string::npos;) {
      text.replace(at, 3, string("{") + kNet + "}");
    }
    return ParseSolver(text);
  }
  std::unique_ptr<Solver<Dtype>> Make(const string& text) const {
    return MakeSolver<Dtype>(Parse(text));
  }
  string ErrorFrom(const string& text) const {
    return ErrorOf([&] { Make(text); });
  }

  // For example "test staged": the layers that depend on the state.
  static string StateOf(const Net<Dtype>& net) {
    string state = net.has_layer("train_only") ? "train" : "";
    if (net.has_layer("test_only")) state += "test";
    if (net.has_layer("staged")) state += " staged";
    if (net.has_layer("level_two")) state += " level";
    return state;
  }

  TemporaryFolder folder_;
  const string file_;
};

TYPED_TEST_SUITE(SolverNetsTest, TestDtypesAndDevices);

TYPED_TEST(SolverNetsTest, TheTrainNetComesFromAnyOfFourFields) {
  for (const char* const text : {"net: FILE", "net_param NET",
                                 "train_net: FILE", "train_net_param NET"}) {
    const auto solver = this->Make(text);
    EXPECT_EQ("train", this->StateOf(*solver->net())) << text;
    EXPECT_EQ("told", solver->net()->name()) << text;
    EXPECT_EQ(TRAIN, solver->net()->phase()) << text;
    EXPECT_EQ(0u, solver->test_nets().size()) << text;
    EXPECT_EQ(0, solver->iter()) << text;
  }
}

TYPED_TEST(SolverNetsTest, TheTrainNetMustBeOne) {
  EXPECT_EQ(
      "the solver has no net to train; give one of net, net_param, train_net "
      "and train_net_param",
      this->ErrorFrom(""));
  EXPECT_EQ(
      "the solver has more than one net to train; give only one of net, "
      "net_param, train_net and train_net_param",
      this->ErrorFrom("net: FILE train_net_param NET"));
}

TYPED_TEST(SolverNetsTest, TheGenericNetIsTestedForEveryTestIter) {
  for (const char* const net : {"net: FILE ", "net_param NET "}) {
    const auto solver =
        this->Make(string(net) + "test_iter: 1 test_iter: 2 test_interval: 5");
    ASSERT_EQ(2u, solver->test_nets().size());
    for (const auto& test_net : solver->test_nets()) {
      EXPECT_EQ("test", this->StateOf(*test_net));
      EXPECT_EQ(TEST, test_net->phase());
    }
    EXPECT_EQ("train", this->StateOf(*solver->net()));
  }
}

TYPED_TEST(SolverNetsTest, TestNetsComeInOrder) {
  // test_net_param first, then test_net, then the generic net.
  const auto solver = this->Make(R"(
    net: FILE test_interval: 1 test_iter: 1 test_iter: 1 test_iter: 1
    test_net: FILE
    test_net_param { name: 'by_param'
      layer { name: 'in' type: 'Input' top: 'x'
              input_param { shape { dim: 1 } } } }
    test_state {} test_state { stage: 'extra' } test_state { level: 2 })");
  ASSERT_EQ(3u, solver->test_nets().size());
  EXPECT_EQ("by_param", solver->test_nets()[0]->name());
  EXPECT_EQ("test staged", this->StateOf(*solver->test_nets()[1]));
  EXPECT_EQ("test level", this->StateOf(*solver->test_nets()[2]));
}

TYPED_TEST(SolverNetsTest, TrainStateAddsStagesAndLevel) {
  const auto solver =
      this->Make("net: FILE train_state { stage: 'extra' level: 3 }");
  EXPECT_EQ("train staged level", this->StateOf(*solver->net()));
}

TYPED_TEST(SolverNetsTest, TheSolversStateGoesBeforeTheNets) {
  const string net = string("net_param { ") + kNet +
                     " state { level: 2 stage: 'extra' phase: TEST } } ";
  const auto solver = this->Make(net);
  // The net's own state says so.
  EXPECT_EQ("test staged level", this->StateOf(*solver->net()));
  EXPECT_EQ("train staged",
            this->StateOf(*this->Make(net + "train_state { phase: TRAIN "
                                            "level: 0 }")
                               ->net()));
}

TYPED_TEST(SolverNetsTest, NumbersOfTestsMustFit) {
  EXPECT_EQ(
      "the solver has 0 test_iter(s) for 1 test net(s); give one for each",
      this->ErrorFrom("train_net: FILE test_net: FILE"));
  EXPECT_EQ(
      "the solver has 2 test_iter(s) for 1 test net(s); give one for each",
      this->ErrorFrom("train_net: FILE test_net: FILE test_iter: 1 "
                      "test_iter: 1 test_interval: 1"));
  EXPECT_EQ(
      "the solver has 1 test_iter(s) for 2 test net(s); give one for each, "
      "and one more for every test of the trained net",
      this->ErrorFrom("net: FILE test_net: FILE test_net: FILE test_iter: 1 "
                      "test_interval: 1"));
  EXPECT_EQ(
      "the solver has 2 test_state(s) for 1 test net(s); give none or one for "
      "each",
      this->ErrorFrom("net: FILE test_iter: 1 test_interval: 1 test_state {} "
                      "test_state {}"));
  EXPECT_EQ("the solver has a test net but no positive test_interval",
            this->ErrorFrom("net: FILE test_iter: 1"));
}

TYPED_TEST(SolverNetsTest, ErrorsNameTheFileAndTheLayer) {
  WriteWholeFile(this->file_, "layer { name: 'strange' type: 'NoSuchLayer' }");
  const string error = this->ErrorFrom("net: FILE");
  EXPECT_TRUE(error.starts_with(
      this->file_ +
      ": layer 'strange' (NoSuchLayer): unknown layer type 'NoSuchLayer'"))
      << error;
  WriteWholeFile(this->file_, "layer {\n  nam: 'x'\n}");
  EXPECT_TRUE(this->ErrorFrom("net: FILE").starts_with(this->file_ + ":2:"));
  EXPECT_NE(
      string::npos,
      this->ErrorFrom("net: 'no/such.prototxt'").find("no/such.prototxt"));
}

TYPED_TEST(SolverNetsTest, StartsFromWeights) {
  typedef typename TypeParam::Dtype Dtype;
  const auto source = this->Make("net: FILE");
  const vector<string> names = {this->folder_ / "first.caffemodel",
                                this->folder_ / "second.caffemodel"};
  for (size_t i = 0; i < names.size(); ++i) {
    caffe_set(3, Dtype(10 + i),
              source->net()->learnable_params()[i]->mutable_cpu_data());
    NetParameter net;
    source->net()->ToProto(&net);
    WriteProtoToBinaryFile(net, names[i]);
  }
  // Later files go over earlier ones; one field may list several.
  const string settings = "net: FILE test_iter: 1 test_interval: 1 ";
  for (const string& weights :
       {"weights: '" + names[0] + " , " + names[1] + "'",
        "weights: '" + names[0] + "' weights: '" + names[1] + "'"}) {
    const auto solver = this->Make(settings + weights);
    EXPECT_EQ(vector<Dtype>(3, 10), DataOf(*solver->net()->params()[0]));
    EXPECT_EQ(vector<Dtype>(3, 11), DataOf(*solver->net()->params()[1]));
    EXPECT_EQ(vector<Dtype>(3, 11),
              DataOf(*solver->test_nets()[0]->params()[1]));
  }
  EXPECT_NE(string::npos,
            this->ErrorFrom(settings + "weights: 'no_such.caffemodel'")
                .find("no_such.caffemodel"));
}

TYPED_TEST(SolverNetsTest, ReadsItsSettingsFromAFile) {
  typedef typename TypeParam::Dtype Dtype;
  const string file = this->folder_ / "solver.prototxt";
  WriteProtoToTextFile(this->Parse("net: FILE base_lr: 0.5 lr_policy: 'fixed'"),
                       file);
  NesterovSolver<Dtype> solver(file);
  EXPECT_EQ(0.5, solver.param().base_lr());
  EXPECT_EQ("told", solver.net()->name());
}

TYPED_TEST(SolverNetsTest, TheSeedDecidesTheFirstWeights) {
  typedef typename TypeParam::Dtype Dtype;
  const string net = R"(net_param {
    layer { name: 'data' type: 'DummyData' top: 'x'
            dummy_data_param { shape { dim: 2 dim: 3 }
                               data_filler { type: 'gaussian' } } } } )";
  const auto first_data = [&](const string& seed) {
    const auto solver = this->Make(net + seed);
    solver->net()->Forward();
    return DataOf(*solver->net()->blobs()[0]);
  };
  const vector<Dtype> five = first_data("random_seed: 5");
  EXPECT_EQ(five, first_data("random_seed: 5"));
  EXPECT_NE(five, first_data("random_seed: 6"));
  EXPECT_NE(five, first_data(""));
}

TEST(SolverFactoryTest, KnowsTheTypesOfCaffe) {
  const vector<string> types = {"AdaDelta", "AdaGrad", "Adam",
                                "Nesterov", "RMSProp", "SGD"};
  EXPECT_EQ(types, SolverRegistry<float>::SolverTypeList());
  EXPECT_EQ(types, SolverRegistry<double>::SolverTypeList());
  SolverParameter param;
  *param.mutable_net_param() = ParseNet(kNet);
  for (const string& type : types) {
    param.set_type(type);
    EXPECT_EQ(type, MakeSolver<float>(param)->type());
    EXPECT_EQ(type, MakeSolver<double>(param)->type());
  }
  param.set_type("LBFGS");
  EXPECT_EQ(
      "unknown solver type 'LBFGS' (known types: AdaDelta, AdaGrad, Adam, "
      "Nesterov, RMSProp, SGD)",
      ErrorOf([&] { MakeSolver<float>(param); }));
}

}  // namespace caffe
