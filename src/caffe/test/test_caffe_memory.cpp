#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <regex>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "temporary_folder.hpp"

// Runs `caffe memory` as a user does.

namespace caffe {

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNet = R"(
  name: 'small'
  layer { name: 'data' type: 'DATA' top: 'data' top: 'label'
          SHAPE }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 32 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 32 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'pool2' type: 'Pooling' bottom: 'conv2' top: 'pool2'
          pooling_param { kernel_size: 4 stride: 4 } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'pool2' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' } )";

constexpr const char* kSolver =
    "net: 'net.prototxt' base_lr: 0.01 momentum: 0.9 lr_policy: 'fixed' "
    "test_iter: 1 test_interval: 100 snapshot: 10 snapshot_prefix: 'no/s' ";

constexpr const char* kDummy = R"(dummy_data_param {
    shape { dim: 64 dim: 3 dim: 32 dim: 32 } shape { dim: 64 }
    data_filler { type: 'gaussian' } data_filler { value: 1 } })";

class CaffeMemoryTest : public ::testing::Test {
 protected:
  CaffeMemoryTest() { WriteWholeFile(folder_ / "solver.prototxt", kSolver); }

  void WriteNet(const string& type, const string& shape) const {
    string net = std::regex_replace(kNet, std::regex("SHAPE"), shape);
    net = std::regex_replace(net, std::regex("DATA"), type);
    WriteWholeFile(folder_ / "net.prototxt", net);
  }

  // What the command prints, errors included.
  string Run(const string& arguments) const {
    const string command = "cd '" + folder_.path() + "' && TMPDIR=. '" +
                           CAFFE_PROGRAM + "' memory " + arguments + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    string output;
    std::array<char, 4096> buffer;
    for (size_t n = 0;
         (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      output.append(buffer.data(), n);
    }
    exit_code_ = pclose(pipe);
    return output;
  }
  string RunModel(const string& model, const string& arguments) const {
    return Run("--solver='" PROJECT_DIR "/models/" + model +
               "/solver.prototxt' --model='" PROJECT_DIR "/models/" + model +
               "/train_val.prototxt' " + arguments);
  }

  const TemporaryFolder folder_;
  mutable int exit_code_ = -1;
};

// The last number of the line that starts so, in bytes.
double LastAmount(const string& output, const string& start) {
  std::smatch found;
  const std::regex line("\n *" + start + "[^\n]* ([0-9.]+) (KB|MB|GB)\n");
  if (!std::regex_search(output, found, line)) {
    ADD_FAILURE() << "no line " << start << " in\n" << output;
    return 0;
  }
  const string unit = found[2];
  return std::stod(found[1]) * (unit == "KB" ? 1e3 : unit == "MB" ? 1e6 : 1e9);
}

}  // namespace

// What papers give for these nets.
TEST_F(CaffeMemoryTest, CountsInputsOfConvolutionsAsPapersDo) {
  EXPECT_THAT(RunModel("bvlc_alexnet", "--batch=256"),
              HasSubstr("\nInputs of all convolutions, batch 256: 407 MB\n"));
  EXPECT_THAT(RunModel("vgg16", "--batch=256"),
              HasSubstr("\nInputs of all convolutions, batch 256: 9.30 GB\n"));
}

TEST_F(CaffeMemoryTest, TellsWhatIsKept) {
  WriteNet("DummyData", kDummy);
  const string output = Run("--solver=solver.prototxt --ratio=8");
  EXPECT_EQ(0, exit_code_);
  // 64 x 32 x 32 x 32 floats, and an eighth of them.
  EXPECT_THAT(output, ContainsRegex("\n  conv1 +8.4 MB +raw +8.4 MB +packed "
                                    "+1.0 MB\n"));
  EXPECT_THAT(output, ContainsRegex("\n  conv2 +8.4 MB +dropped +0 KB "
                                    "+dropped +0 KB\n"));
}

TEST_F(CaffeMemoryTest, FindsTheLargestBatch) {
  WriteNet("DummyData", kDummy);
  const string output = Run("--solver=solver.prototxt --memory_budget=500MB");
  std::smatch any;
  std::smatch power;
  ASSERT_TRUE(std::regex_search(
      output, any, std::regex("\n *any +([0-9]+) +([0-9]+) +([0-9]+)\n")));
  ASSERT_TRUE(std::regex_search(
      output, power,
      std::regex("\n *a power of two +([0-9]+) +([0-9]+) +([0-9]+)\n")));
  for (int column = 1; column <= 3; ++column) {
    const int largest = std::stoi(any[column]);
    const int power_of_two = std::stoi(power[column]);
    EXPECT_EQ(0, power_of_two & (power_of_two - 1));
    EXPECT_LE(power_of_two, largest);
    EXPECT_GT(2 * power_of_two, largest);
  }
  EXPECT_GT(std::stoi(any[3]), std::stoi(any[1]));
  // The forecast for that batch is just within the budget.
  const string at_most = Run("--solver=solver.prototxt --batch=" + any.str(3));
  EXPECT_NEAR(500e6, LastAmount(at_most, "in all"), 3e6);
}

TEST_F(CaffeMemoryTest, MeasuredForecastIsWithinATenth) {
  WriteNet("DummyData", kDummy);
  const string output = Run("--solver=solver.prototxt --batch=256 --measure");
  EXPECT_EQ(0, exit_code_) << output;
  const double program = LastAmount(output, "the program itself");
  const double measured = LastAmount(output, "measured") - program;
  const double forecast = LastAmount(output, "in all") - program;
  EXPECT_GT(measured, 50e6);
  EXPECT_NEAR(measured, forecast, 0.1 * measured);
}

TEST_F(CaffeMemoryTest, SaysWhatIsMissing) {
  WriteNet("Data", "data_param { source: 'nowhere' batch_size: 4 }");
  const string output = Run("--solver=solver.prototxt");
  EXPECT_NE(0, exit_code_);
  EXPECT_THAT(output, StartsWith("caffe: layer 'data': "));
  EXPECT_THAT(output, HasSubstr("nowhere"));
  EXPECT_THAT(output,
              HasSubstr("; without its data, give the shape of one image: "
                        "--shape=CHANNELS,HEIGHT,WIDTH\n"));
  const string forecast = Run("--solver=solver.prototxt --shape=3,32,32");
  EXPECT_EQ(0, exit_code_);
  // Four batches each for training and tests, a byte a value.
  EXPECT_NEAR(2 * 4 * 4 * 3 * 32 * 32,
              LastAmount(forecast, "batches read ahead"), 1000);
  EXPECT_THAT(Run("--solver=solver.prototxt --shape=3,a,32"),
              HasSubstr("--shape must be numbers"));
  EXPECT_THAT(Run("--solver=solver.prototxt --shape=3,32,32 --measure"),
              HasSubstr("nowhere"));
  EXPECT_THAT(Run("--solver=solver.prototxt --memory_budget=plenty"),
              HasSubstr("'plenty' is no amount of memory"));
  EXPECT_THAT(Run(""), HasSubstr("memory needs a solver or a net"));
}

}  // namespace caffe
