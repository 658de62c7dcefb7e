#include <string>
#include <tuple>

#include "caffe/test/test_caffe_main.hpp"
#include "compressed_training_test_util.hpp"

// With an exact codec, or none, nets of all shapes and solvers of all types end
// with the very weights of plain training.

namespace caffe {

namespace {

constexpr const char* kData = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 6 dim: 4 dim: 14 dim: 14 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 6 } data_filler { value: 2 } } } )";

// A layer of 8 channels that keeps the size of images.
string Conv(const string& name, const string& bottom, const string& top,
            const string& rest = "") {
  return "layer { name: '" + name + "' type: 'Convolution' bottom: '" + bottom +
         "' top: '" + top + "' " + rest +
         " convolution_param { num_output: 8 kernel_size: 3 pad: 1 "
         "weight_filler { type: 'xavier' } } }";
}

string Layer1(const string& type, const string& name, const string& bottom,
              const string& top, const string& rest = "") {
  return "layer { name: '" + name + "' type: '" + type + "' bottom: '" +
         bottom + "' top: '" + top + "' " + rest + " }";
}

// Scores and a loss.
string Head(const string& bottom, const string& name = "",
            const string& loss_weight = "1") {
  return Layer1("InnerProduct", "scores" + name, bottom, "scores" + name,
                "inner_product_param { num_output: 5 "
                "weight_filler { type: 'xavier' } }") +
         "layer { name: 'loss" + name +
         "' type: 'SoftmaxWithLoss' bottom: " + "'scores" + name +
         "' bottom: 'label' top: 'loss" + name +
         "' loss_weight: " + loss_weight + " }";
}

// Sequences of 4 steps, in 64 streams, that go on from batch to batch.
constexpr const char* kSequences = R"(
  layer { name: 'data' type: 'DummyData' top: 'x' top: 'cont' top: 'label'
          dummy_data_param {
            shape { dim: 4 dim: 64 dim: 24 } shape { dim: 4 dim: 64 }
            shape { dim: 4 dim: 64 }
            data_filler { type: 'gaussian' } data_filler { value: 1 }
            data_filler { value: 2 } } } )";

// States that a layer starts from.
constexpr const char* kStates = R"(
  layer { name: 'states' type: 'DummyData' top: 'h0' top: 'c0'
          dummy_data_param { shape { dim: 1 dim: 64 dim: 64 }
                             data_filler { type: 'gaussian' } } } )";

// A recurrent layer of 64 outputs. `blobs` are its bottoms and tops.
string Recurrent(const string& type, const string& name, const string& blobs,
                 const string& more = "") {
  return "layer { name: '" + name + "' type: '" + type + "' " + blobs +
         " recurrent_param { num_output: 64 " + more +
         " weight_filler { type: 'xavier' } } }";
}

// Scores of every step and a loss.
string StepsHead(const string& bottom) {
  return Layer1("InnerProduct", "scores", bottom, "scores",
                "inner_product_param { num_output: 5 axis: 2 "
                "weight_filler { type: 'xavier' } }") +
         "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' "
         "bottom: 'label' top: 'loss' softmax_param { axis: 2 } }";
}

struct Shape {
  const char* name;
  string net;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

const Shape kShapes[] = {
    {"Plain", kData + Conv("conv1", "data", "conv1") +
                  Layer1("ReLU", "relu", "conv1", "relu") +
                  Conv("conv2", "relu", "conv2") + Head("conv2")},
    {"InPlace",
     kData + Conv("conv1", "data", "x") + Layer1("BatchNorm", "bn", "x", "x") +
         Layer1("Scale", "scale", "x", "x", "scale_param { bias_term: true }") +
         Layer1("ReLU", "relu", "x", "x") +
         Layer1("Dropout", "drop", "x", "x") + Conv("conv2", "x", "y") +
         Layer1("ReLU", "r", "y", "y") + Head("y")},
    {"Skips",
     kData + Conv("conv1", "data", "a") + Layer1("ReLU", "r1", "a", "a") +
         Conv("conv2", "a", "b") + Layer1("ReLU", "r2", "b", "b") +
         Conv("conv3", "b", "c") +
         "layer { name: 'sum' type: 'Eltwise' bottom: 'a' bottom: 'c' "
         "top: 'sum' }" +
         "layer { name: 'product' type: 'Eltwise' bottom: 'sum' bottom: 'b' "
         "top: 'product' eltwise_param { operation: PROD } }" +
         "layer { name: 'all' type: 'Concat' bottom: 'a' bottom: 'product' "
         "bottom: 'data' top: 'all' }" +
         Head("all")},
    {"SharedWeights",
     kData + Conv("conv1", "data", "a") +
         Conv("twin1", "a", "b", "param { name: 'w' } param { name: 'b' }") +
         Layer1("ReLU", "r", "b", "b") +
         Conv("twin2", "b", "c", "param { name: 'w' } param { name: 'b' }") +
         Conv("twin3", "c", "d", "param { name: 'w' } param { name: 'b' }") +
         Head("d")},
    // As unrolled nets are: one set of weights at every step of a sequence,
    // each of which reads the step before.
    {"Recurrent",
     kData +
         string("layer { name: 'steps' type: 'Slice' bottom: 'data' top: 's0' "
                "top: 's1' top: 's2' top: 's3' slice_param { axis: 1 } }") +
         Conv("in0", "s0", "x0", "param { name: 'in' } param { name: 'ib' }") +
         Layer1("ReLU", "h0", "x0", "h0") +
         [] {
           string layers;
           for (const char step : {'1', '2', '3'}) {
             const string now(1, step);
             const string before(1, static_cast<char>(step - 1));
             layers += Conv("in" + now, "s" + now, "x" + now,
                            "param { name: 'in' } param { name: 'ib' }") +
                       Conv("back" + now, "h" + before, "y" + now,
                            "param { name: 'back' } param { name: 'bb' }") +
                       Concat("layer { name: 'sum", now,
                              "' type: 'Eltwise' bottom: 'x", now,
                              "' bottom: 'y", now, "' top: 'z", now, "' }") +
                       Layer1("ReLU", "h" + now, "z" + now, "h" + now);
           }
           return layers;
         }() +
         Head("h3")},
    {"LSTM", kSequences +
                 Recurrent("LSTM", "lstm",
                           "bottom: 'x' bottom: 'cont' "
                           "top: 'h'") +
                 StepsHead("h")},
    {"RNN", kSequences +
                Recurrent("RNN", "one", "bottom: 'x' bottom: 'cont' top: 'o'") +
                Recurrent("RNN", "two", "bottom: 'o' bottom: 'cont' top: 'p'") +
                StepsHead("p")},
    // The second goes on from the states of the first.
    {"ExposedStates",
     kSequences + string(kStates) +
         Recurrent("LSTM", "encoder",
                   "bottom: 'x' bottom: 'cont' bottom: 'h0' bottom: 'c0' "
                   "top: 'h' top: 'h1' top: 'c1'",
                   "expose_hidden: true") +
         Recurrent("LSTM", "decoder",
                   "bottom: 'x' bottom: 'cont' bottom: 'h1' bottom: 'c1' "
                   "top: 'i' top: 'h2' top: 'c2'",
                   "expose_hidden: true") +
         StepsHead("i")},
    {"SeveralLosses",
     kData + Conv("conv1", "data", "a") + Layer1("ReLU", "r1", "a", "a") +
         Head("a", "1", "0.3") + Conv("conv2", "a", "b") + Head("b", "2") +
         Layer1("Pooling", "pool", "b", "p",
                "pooling_param { kernel_size: 2 stride: 2 }") +
         Head("p", "3", "0.5")},
    {"FrozenLayers",
     kData +
         Conv("conv1", "data", "a",
              "param { lr_mult: 0 } param { lr_mult: 0 }") +
         Layer1("ReLU", "r1", "a", "a") + Conv("conv2", "a", "b") +
         Conv("conv3", "b", "c", "param { lr_mult: 0 } param { lr_mult: 0 }") +
         Layer1("ReLU", "r3", "c", "c") +
         Conv("conv4", "c", "d", "param { lr_mult: 0 } param { lr_mult: 1 }") +
         Head("d")},
    // Affine says nothing of what it reads.
    {"Undeclared",
     kData + Conv("conv1", "data", "a") + Layer1("ReLU", "r1", "a", "a") +
         Layer1("Affine", "own", "a", "own", "power_param { scale: 0.7 }") +
         Layer1("ReLU", "r2", "own", "own") + Conv("conv2", "own", "b") +
         Head("b")},
};

class NetShapeTest
    : public ::testing::TestWithParam<std::tuple<Shape, string>> {};

TEST_P(NetShapeTest, ChangesNoBit) {
  const auto& [shape, settings] = GetParam();
  const vector<float> plain =
      TrainedWeights<float>(settings, "memory { plan: false }", 4, shape.net);
  EXPECT_EQ(plain,
            TrainedWeights<float>(settings + "compression { codec: 'none' }",
                                  "memory { plan: true }", 4, shape.net));
  EXPECT_EQ(plain, TrainedWeights<float>(
                       settings + "compression { codec: 'lossless' }", "", 4,
                       shape.net));
  EXPECT_NE(plain, TrainedWeights<float>(
                       settings + "compression { error_bound { estimator: "
                                  "FIXED value: 1 } }",
                       "", 4, shape.net));
}

string NameOf(const ::testing::TestParamInfo<std::tuple<Shape, string>>& info) {
  return string(std::get<0>(info.param).name) +
         (std::get<1>(info.param).empty() ? "" : "Averaged");
}

INSTANTIATE_TEST_SUITE_P(All, NetShapeTest,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::Values("",
                                                              "iter_size: 2 ")),
                         NameOf);

class SolverTypeTest : public ::testing::TestWithParam<string> {};

TEST_P(SolverTypeTest, ChangesNoBit) {
  const string type = GetParam();
  const bool has_momentum = type != "AdaGrad" && type != "RMSProp";
  const string settings = "type: '" + type + "' delta: 1e-6 " +
                          (has_momentum ? "" : "momentum: 0 ");
  const vector<float> plain =
      TrainedWeights<float>(settings, "memory { plan: false }", 4);
  for (const char* const codec : {"none", "lossless"}) {
    EXPECT_EQ(plain, TrainedWeights<float>(
                         settings + "compression { codec: '" + codec + "' }",
                         "memory { plan: true }", 4))
        << codec;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SolverTypeTest,
                         ::testing::Values("SGD", "Nesterov", "AdaGrad",
                                           "RMSProp", "AdaDelta", "Adam"),
                         [](const auto& info) { return info.param; });

}  // namespace

}  // namespace caffe
