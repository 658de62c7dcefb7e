#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "temporary_folder.hpp"

// Compressed training from the command line.

namespace caffe {

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'target' type: 'DummyData' top: 'target'
          dummy_data_param { shape { dim: 8 dim: 3 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
  layer { name: 'drop' type: 'Dropout' bottom: 'conv' top: 'conv' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'conv' top: 'scores'
          inner_product_param { num_output: 3
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'scores' bottom: 'target'
          top: 'loss' }
)";

class CaffeCompressionTest : public ::testing::Test {
 protected:
  CaffeCompressionTest() {
    WriteWholeFile(folder_ / "net.prototxt", kNet);
    WriteSolver("max_iter: 3");
  }

  void WriteSolver(const string& settings,
                   const string& rate = "base_lr: 0.001 ") const {
    WriteWholeFile(folder_ / "solver.prototxt",
                   rate +
                       "net: 'net.prototxt' lr_policy: 'fixed' "
                       "momentum: 0.9 display: 1 random_seed: 5 "
                       "snapshot_prefix: 's' solver_mode: CPU " +
                       settings);
  }

  struct Result {
    int exit_code;
    string output;
  };
  // Runs a command of the shell in the folder.
  Result Shell(const string& command) const {
    const int status = std::system(
        Concat("cd '", folder_.path(), "' && { ", command, "; } > output 2>&1")
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            ReadWholeFile(folder_ / "output")};
  }
  static string Train(const string& flags) {
    return Concat("'", CAFFE_PROGRAM, "' train --solver=solver.prototxt ",
                  flags);
  }

  const TemporaryFolder folder_;
};

TEST_F(CaffeCompressionTest, TheFlagTurnsItOnAndOff) {
  EXPECT_THAT(Shell(Train("")).output, Not(HasSubstr("Compression: ")));
  for (const char* const flag : {"--compression=on", "--compression="}) {
    const Result result = Shell(Train(flag));
    EXPECT_EQ(0, result.exit_code);
    EXPECT_THAT(result.output, HasSubstr("Compression: ")) << flag;
  }
  WriteSolver("max_iter: 3 compression { }");
  EXPECT_THAT(Shell(Train("")).output, HasSubstr("Compression: "));
  EXPECT_THAT(Shell(Train("--compression=off")).output,
              Not(HasSubstr("Compression: ")));
}

TEST_F(CaffeCompressionTest, TheFlagAddsToTheSolversSettings) {
  WriteSolver(
      "max_iter: 3 compression { codec: 'lossless' level: FAST "
      "error_bound { interval: 7 tolerance: 0.5 } }");
  const Result result = Shell(
      Train("--compression=\"codec: 'fp16' error_bound { tolerance: 0.25 }\""));
  EXPECT_EQ(0, result.exit_code);
  // From the log of the settings.
  for (const char* const text :
       {"codec: \"fp16\"", "level: FAST", "interval: 7", "tolerance: 0.25"}) {
    EXPECT_THAT(result.output, HasSubstr(text));
  }
}

TEST_F(CaffeCompressionTest, BadTextIsExplainedInOneLine) {
  const Result result = Shell(Train("--compression='levle: FAST'"));
  EXPECT_EQ(1, result.exit_code);
  EXPECT_THAT(result.output, HasSubstr("caffe: --compression:1:"));
  EXPECT_THAT(result.output, HasSubstr("\"levle\""));
  EXPECT_EQ(1, Shell(Train("--compression='codec: \"zip\"'")).exit_code);
}

TEST_F(CaffeCompressionTest, ARunThatDivergesStopsWithASnapshot) {
  WriteSolver("max_iter: 50 compression { guard { action: STOP } }",
              "base_lr: 1e12 ");
  const Result result = Shell(Train(""));
  EXPECT_EQ(1, result.exit_code);
  const size_t start = result.output.rfind("\ncaffe: ");
  ASSERT_NE(string::npos, start) << result.output;
  const string sentence = result.output.substr(start + 1);
  EXPECT_THAT(sentence, HasSubstr("training was stopped in iteration "));
  EXPECT_THAT(sentence, EndsWith(" is of the state before\n"));
  EXPECT_EQ(0, Shell("ls s_iter_*.solverstate").exit_code);
}

TEST_F(CaffeCompressionTest, KilledRunsEndWithTheSameWeights) {
  const string settings =
      "max_iter: 60 snapshot: 10 compression { error_bound { interval: 8 } "
      "verify_interval: 12 } snapshot_after_train: true ";
  WriteSolver(settings);
  ASSERT_EQ(0, Shell(Train("--threads=1")).exit_code);
  const string whole = ReadWholeFile(folder_ / "s_iter_60.caffemodel");
  ASSERT_EQ(0, Shell("rm s_iter_*").exit_code);
  const Result killed =
      Shell(Train("--threads=1") +
            " & pid=$!; while [ ! -e s_iter_20.solverstate ]; do sleep 0.01; "
            "done; kill -KILL $pid; wait $pid");
  ASSERT_EQ(128 + SIGKILL, killed.exit_code) << killed.output;
  const Result resumed = Shell(Train("--threads=1 --snapshot=auto"));
  EXPECT_EQ(0, resumed.exit_code);
  EXPECT_THAT(resumed.output, HasSubstr("Resuming from iteration "));
  EXPECT_TRUE(whole == ReadWholeFile(folder_ / "s_iter_60.caffemodel"));
}

}  // namespace

}  // namespace caffe
