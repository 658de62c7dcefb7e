#include <cmath>
#include <map>
#include <regex>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "compressed_training_test_util.hpp"

// The self-check of compressed training: verify_interval.

namespace caffe {

namespace {

// Errors of what its layers read spread nowhere but into weights' gradients.
constexpr const char* kConvolutions = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 24 dim: 24 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 8 } data_filler { value: 1 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 5 pad: 2
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 16 kernel_size: 3 stride: 2
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'conv2' top: 'conv2' }
  layer { name: 'drop' type: 'Dropout' bottom: 'conv2' top: 'conv2' }
  layer { name: 'twice1' type: 'Convolution' bottom: 'conv2' top: 'twice1'
          param { name: 'w' } param { name: 'b' }
          convolution_param { num_output: 16 kernel_size: 3 pad: 1 group: 2
                              weight_filler { type: 'xavier' } } }
  layer { name: 'twice2' type: 'Convolution' bottom: 'twice1' top: 'twice2'
          param { name: 'w' } param { name: 'b' }
          convolution_param { num_output: 16 kernel_size: 3 pad: 1 group: 2
                              weight_filler { type: 'xavier' } } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'twice2' top: 'scores'
          inner_product_param { num_output: 20
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' } )";

struct Row {
  double predicted = 0;
  double measured = 0;
};

// The tables in the log, a map from layers to their rows for each.
vector<std::map<string, Row>> TablesIn(const LogRecorder& log) {
  vector<std::map<string, Row>> tables;
  const std::regex row(R"(^    (\w+) +([\d.e+-]+) +([\d.e+-]+) +[\d.-]+$)");
  for (const string& message : log.messages()) {
    std::smatch match;
    if (message.find("Errors of the weights' gradients") == 0) {
      tables.emplace_back();
    } else if (!tables.empty() && std::regex_match(message, match, row)) {
      tables.back()[match[1]] = {std::stod(match[2]), std::stod(match[3])};
    }
  }
  return tables;
}

TEST(VerificationTest, PredictedErrorsAreThoseMeasured) {
  // Errors of rounding to the nearest depend on the values.
  const std::map<string, double> tolerances = {{"DITHER", 0.2},
                                               {"NEAREST", 0.5}};
  for (const auto& [rounding, tolerance] : tolerances) {
    LogRecorder log;
    TrainedWeights<float>("compression { verify_interval: 3 rounding: " +
                              rounding + " error_bound { tolerance: 0.03 } }",
                          "", 7, kConvolutions);
    const auto tables = TablesIn(log);
    ASSERT_EQ(3, tables.size());
    for (const auto& table : tables) {
      ASSERT_EQ(5, table.size());
      for (const auto& [layer, row] : table) {
        EXPECT_GT(row.predicted, 0) << layer;
        EXPECT_NEAR(1, row.measured / row.predicted, tolerance)
            << layer << rounding;
      }
      // One set of weights, one error.
      EXPECT_EQ(table.at("twice1").measured, table.at("twice2").measured);
    }
  }
}

// A weight for each channel, or one for all of them.
TEST(VerificationTest, PredictsErrorsOfFactorsAndSlopes) {
  const string before = R"(
    layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
            dummy_data_param { shape { dim: 4 dim: 6 dim: 16 dim: 16 }
                               shape { dim: 4 }
                               data_filler { type: 'gaussian' }
                               data_filler { value: 1 } } }
    layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
            convolution_param { num_output: 6 kernel_size: 3 pad: 1
                                weight_filler { type: 'xavier' } } }
    layer { name: 'factors' bottom: 'conv' top: 'factors' )";
  const string after = R"( }
    layer { name: 'scores' type: 'InnerProduct' bottom: 'factors' top: 'scores'
            inner_product_param { num_output: 20
                                  weight_filler { type: 'xavier' } } }
    layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
            bottom: 'label' top: 'loss' } )";
  for (const string layer :
       {"type: 'Scale'", "type: 'Scale' scale_param { num_axes: 0 }",
        "type: 'Scale' scale_param { axis: 2 }", "type: 'PReLU'",
        "type: 'PReLU' prelu_param { channel_shared: true }"}) {
    LogRecorder log;
    constexpr int kIterations = 150;
    TrainedWeights<float>("compression { verify_interval: 1 }", "", kIterations,
                          before + layer + after);
    const auto tables = TablesIn(log);
    ASSERT_EQ(kIterations, tables.size());
    double squares = 0;
    for (const auto& table : tables) {
      ASSERT_EQ(1, table.count("factors")) << layer;
      const Row& row = table.at("factors");
      squares += std::pow(row.measured / row.predicted, 2) / kIterations;
    }
    // Only the values below zero have to do with slopes: about half.
    const double expected = layer.find("PReLU") == string::npos ? 1 : 0.5;
    EXPECT_NEAR(expected, squares, 0.3 * expected) << layer;
  }
}

TEST(VerificationTest, ChangesNoBitOfTraining) {
  for (const string settings : {"", "iter_size: 2 type: 'Adam' "}) {
    for (const string net : {kConvolutions, kEveryUseNet}) {
      const vector<float> unverified =
          TrainedWeights<float>(settings + "compression { }", "", 6, net);
      LogRecorder log;
      EXPECT_EQ(unverified, TrainedWeights<float>(
                                settings + "compression { verify_interval: 2 }",
                                "", 6, net));
      EXPECT_EQ(3, TablesIn(log).size());
    }
  }
}

// The test nets see no exact values either.
TEST(VerificationTest, AnExactCodecMakesNoErrors) {
  LogRecorder log;
  TrainedWeights<float>("compression { codec: 'lossless' verify_interval: 1 }",
                        "", 2);
  const auto tables = TablesIn(log);
  ASSERT_EQ(2, tables.size());
  for (const auto& [layer, row] : tables[1])
    EXPECT_EQ(0, row.measured) << layer;
}

TEST(VerificationTest, TheLastIsInTheTableAtTheEnd) {
  const auto end_of = [](const string& settings) {
    LogRecorder log;
    MakeSolver<float>(SolverFor("max_iter: 3 compression {" + settings + "}",
                                "", kConvolutions))
        ->Solve();
    for (const string& message : log.messages()) {
      if (message.find("    conv2 ") == 0 &&
          message.find(" packed ") != string::npos) {
        return message;
      }
    }
    return string();
  };
  const string number = R"(\d[\d.e-]*)";
  const string start =
      R"(^    conv2 +conv1 +packed +sz +)" + number + " +" + number;
  EXPECT_TRUE(std::regex_search(end_of(""), std::regex(start + " +- +- ")))
      << end_of("");
  EXPECT_TRUE(std::regex_search(
      end_of("verify_interval: 2"),
      std::regex(start + " +" + number + " +" + number + " ")))
      << end_of("verify_interval: 2");
}

TEST(VerificationTest, ANegativeIntervalIsAnError) {
  EXPECT_THROW(
      MakeSolver<float>(SolverFor("compression { verify_interval: -1 }", "")),
      Error);
}

}  // namespace

}  // namespace caffe
