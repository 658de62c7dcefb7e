#include <regex>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "solver_test_util.hpp"

// What the log says of compression.

namespace caffe {

namespace {

// Two convolutions read 'relu1'; 'conv2' is dropped.
constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 8 } data_filler { value: 1 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'relu1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'relu1' top: 'conv2'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'conv3' type: 'Convolution' bottom: 'relu1' top: 'conv3'
          convolution_param { num_output: 8 kernel_size: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'sum' type: 'Eltwise' bottom: 'conv2' bottom: 'conv3'
          top: 'sum' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'sum' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' } )";

std::unique_ptr<Solver<float>> SolverWith(const string& compression) {
  return MakeSolver<float>(ParseSolver(
      "base_lr: 0.01 momentum: 0.9 lr_policy: 'fixed' random_seed: 7 "
      "snapshot_after_train: false display: 4 max_iter: 7 compression {" +
      compression + "} net_param {" + kNet + "}"));
}

// The numbers in the parentheses of the expression, of all messages it matches.
vector<vector<double>> NumbersIn(const LogRecorder& log,
                                 const string& expression) {
  vector<vector<double>> all;
  const std::regex regex(expression);
  for (const string& message : log.messages()) {
    std::smatch match;
    if (!std::regex_search(message, match, regex)) continue;
    vector<double>& numbers = all.emplace_back();
    for (size_t i = 1; i < match.size(); ++i) {
      numbers.push_back(std::stod(match[i]));
    }
  }
  return all;
}

TEST(CompressionReportTest, SaysAtEveryDisplayWhatBecameOfTheActivations) {
  LogRecorder log;
  SolverWith("")->Step(5);
  const auto lines = NumbersIn(
      log, R"(^    Compression: ([\d.]+) MB -> ([\d.]+) MB, ratio ([\d.]+), )"
           R"(worst error ([\d.]+) of its bound, ([\d.]+) % of the time$)");
  // Of iterations 0 and 4, the second of which speaks of four.
  ASSERT_EQ(2, lines.size());
  constexpr double kMegabytes = 8 * (4 + 8 + 8) * 16 * 16 * 4 / 1e6;
  EXPECT_NEAR(kMegabytes, lines[0][0], 0.006);
  EXPECT_NEAR(4 * kMegabytes, lines[1][0], 0.006);
  for (const vector<double>& line : lines) {
    EXPECT_GT(line[2], 2);
    EXPECT_NEAR(line[2], line[0] / line[1], 0.6);
    EXPECT_GT(line[3], 0.9);
    EXPECT_LE(line[3], 1);
    EXPECT_LT(line[4], 100);
  }
}

// Rounding to 16 bits knows no bound, so it is likely to break a small one.
TEST(CompressionReportTest, ErrorsAreMeasuredNotBelieved) {
  LogRecorder log;
  SolverWith("codec: 'fp16' error_bound { estimator: FIXED value: 1e-6 }")
      ->Step(5);
  const auto lines = NumbersIn(log, R"(worst error ([\d.]+) of its bound)");
  ASSERT_EQ(2, lines.size());
  EXPECT_GT(lines[1][0], 10);
}

TEST(CompressionReportTest, EndsWithATableOfWhatEveryLayerReads) {
  LogRecorder log;
  SolverWith("")->Solve();
  const auto row = [&](const string& start) {
    const auto found =
        NumbersIn(log, "^    " + start +
                           R"( +([\d.e-]+) +([\d.]+) +- +- +([\d.]+) MB)"
                           R"( +([\d.]+) MB +([\d.]+) +([\d.]+) ms)"
                           R"( +([\d.]+) ms$)");
    EXPECT_EQ(1, found.size()) << start;
    return found.empty() ? vector<double>(7) : found[0];
  };
  for (const char* const start :
       {"conv1 +data +packed +sz", "conv2 +relu1 +packed +sz",
        "scores +sum +packed +sz"}) {
    const vector<double> numbers = row(start);
    EXPECT_GT(numbers[0], 0) << start;
    EXPECT_GT(numbers[1], 0.9) << start;
    EXPECT_LE(numbers[1], 1) << start;
    EXPECT_GT(numbers[4], 2) << start;
  }
  // What it reads is counted above.
  EXPECT_EQ(1, NumbersIn(log, "^    conv3 +relu1 +packed .*\"$").size());
  EXPECT_EQ(1, NumbersIn(log, "^    - +conv2 +dropped +- +- +-").size());
}

}  // namespace

}  // namespace caffe
