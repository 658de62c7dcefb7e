#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/io.hpp"
#include "temporary_folder.hpp"

// Runs the program `caffe` as a user does.

namespace caffe {

namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// With dropout and random data, so that a resume shows whether it is exact.
constexpr const char* kNet = R"(
  name: 'small'
  layer { name: 'data' type: 'DummyData' top: 'data' top: 'target'
          dummy_data_param { shape { dim: 8 dim: 12 } shape { dim: 8 dim: 3 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'hidden' type: 'InnerProduct' bottom: 'data' top: 'hidden'
          inner_product_param { num_output: 10
                                weight_filler { type: 'xavier' } } }
  layer { name: 'drop' type: 'Dropout' bottom: 'hidden' top: 'hidden' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'hidden' top: 'scores'
          inner_product_param { num_output: 3
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'scores' bottom: 'target'
          top: 'loss' }
)";

constexpr const char* kSolver = R"(
net: 'net.prototxt' base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9
max_iter: 40 display: 10 snapshot: 10 snapshot_prefix: 's' random_seed: 5
solver_mode: CPU test_iter: 2 test_interval: 20
)";

struct Result {
  int exit_code;  // Minus the signal's number when one ended the program.
  string output;  // Standard output and error.
};

// One run of the program in the folder; `prepare` is called in the child.
class Child {
 public:
  Child(
      const string& folder, const vector<string>& arguments,
      const std::function<void()>& prepare = [] {}) {
    int ends[2];
    CHECK_EQ(0, pipe2(ends, O_CLOEXEC));
    pid_ = fork();
    CHECK_GE(pid_, 0);
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      prepare();
      Execute(folder, arguments);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  ~Child() {
    if (output_ >= 0) Wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Signal(int number) { kill(pid_, number); }

  // Waits until the program has written the text, or has ended.
  void WaitFor(const string& text) {
    while (text_.find(text) == string::npos && ReadOn()) {
    }
  }

  Result Wait() {
    while (ReadOn()) {
    }
    close(output_);
    output_ = -1;
    int status = 0;
    waitpid(pid_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_};
  }

  [[noreturn]] static void Execute(const string& folder,
                                   const vector<string>& arguments) {
    vector<char*> argv = {const_cast<char*>(CAFFE_PROGRAM)};
    for (const string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    // The log files go there as well.
    setenv("TMPDIR", (folder + "/logs").c_str(), 1);
    if (chdir(folder.c_str()) == 0) execv(CAFFE_PROGRAM, argv.data());
    std::_Exit(127);
  }

 private:
  bool ReadOn() {
    char buffer[4096];
    const ssize_t n = read(output_, buffer, sizeof(buffer));
    if (n > 0) text_.append(buffer, n);
    return n > 0;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  string text_;
};

// A program that fills the disk must not die of the signal for it.
void LimitFileSize(size_t bytes) {
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

class CaffeToolTest : public ::testing::Test {
 protected:
  CaffeToolTest() {
    std::filesystem::create_directory(folder_ / "logs");
    WriteWholeFile(folder_ / "net.prototxt", kNet);
    WriteWholeFile(folder_ / "solver.prototxt", kSolver);
  }

  Result Run(const vector<string>& arguments) const {
    return Child(folder_.path(), arguments).Wait();
  }
  // The output of a run that must fail with exit code 1.
  string Failure(const vector<string>& arguments) const {
    const Result result = Run(arguments);
    EXPECT_EQ(1, result.exit_code) << result.output;
    return result.output;
  }
  // The last line of it: what comes before is the log.
  string FailureLine(const vector<string>& arguments) const {
    const string output = Failure(arguments);
    EXPECT_TRUE(output.ends_with("\n"));
    const string lines = output.substr(0, output.size() - 1);
    return lines.substr(lines.rfind('\n') + 1);
  }
  void Append(const string& name, const string& text) const {
    WriteWholeFile(folder_ / name, ReadWholeFile(folder_ / name) + text);
  }
  bool Exists(const string& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  const TemporaryFolder folder_;
};

TEST_F(CaffeToolTest, HelpTellsTheCommands) {
  for (const char* const flag : {"--help", "-help", "-h"}) {
    const Result result = Run({flag});
    EXPECT_EQ(0, result.exit_code);
    EXPECT_THAT(result.output, StartsWith("usage: caffe COMMAND [flags]\n"));
    for (const char* const command :
         {"train ", "test ", "time ", "memory ", "report ", "device_query "}) {
      EXPECT_THAT(result.output, HasSubstr(string("\n  ") + command));
    }
  }
}

TEST_F(CaffeToolTest, HelpOfACommandTellsItsFlags) {
  const string train = Run({"train", "--help"}).output;
  EXPECT_THAT(train, AllOf(StartsWith("usage: caffe train --solver=FILE"),
                           HasSubstr("\n  --sighup_effect  (string, default "
                                     "\"snapshot\")\n"),
                           HasSubstr("\n  --threads  (int32, default 0)\n"),
                           HasSubstr("--snapshot=auto"),
                           Not(HasSubstr("--iterations"))));
  const string test = Run({"test", "--help"}).output;
  EXPECT_THAT(test, AllOf(StartsWith("usage: caffe test --model=FILE"),
                          HasSubstr("\n  --iterations  (int32, default 50)\n"),
                          Not(HasSubstr("--solver"))));
  EXPECT_THAT(Run({"--help", "time"}).output,
              AllOf(HasSubstr("\n  --phase  "), Not(HasSubstr("--snapshot"))));
  EXPECT_EQ(0, Run({"device_query", "--help"}).exit_code);
}

TEST_F(CaffeToolTest, WrongCommandLinesAreExplainedInOneLine) {
  const string commands =
      "use one of train, test, time, memory, report, device_query (caffe "
      "--help tells "
      "more)\n";
  EXPECT_EQ("caffe: no command; " + commands, Failure({}));
  EXPECT_EQ("caffe: unknown command 'trian'; " + commands, Failure({"trian"}));
  EXPECT_EQ(
      "caffe: unexpected argument 'solver.prototxt'; flags look like "
      "--solver=FILE (caffe train --help tells more)\n",
      Failure({"train", "solver.prototxt"}));
  EXPECT_EQ(
      "caffe: train needs a solver: --solver=FILE (caffe train --help tells "
      "more)\n",
      Failure({"train"}));
  EXPECT_EQ(
      "caffe: test needs a net: --model=FILE (caffe test --help tells more)\n",
      Failure({"test", "--weights=x"}));
  EXPECT_EQ(
      "caffe: test needs trained weights: --weights=FILE (caffe test --help "
      "tells more)\n",
      Failure({"test", "--model=net.prototxt"}));
  EXPECT_EQ(
      "caffe: time needs a net: --model=FILE, or a solver: --solver=FILE "
      "(caffe time --help tells more)\n",
      Failure({"time"}));
  EXPECT_EQ(
      "caffe: give --snapshot to resume or --weights to start from, but not "
      "both\n",
      Failure({"train", "--solver=solver.prototxt", "--snapshot=a",
               "--weights=b"}));
  EXPECT_EQ("caffe: --iterations must be positive, not 0\n",
            Failure({"time", "--model=net.prototxt", "--iterations=0"}));
  EXPECT_EQ("caffe: --phase must be TRAIN or TEST, not 'VALID'\n",
            Failure({"time", "--model=net.prototxt", "--phase=VALID"}));
  EXPECT_EQ("caffe: --threads must not be negative\n",
            Failure({"train", "--threads=-1"}));
  EXPECT_THAT(FailureLine({"train", "--solver=solver.prototxt",
                           "--sigint_effect=explode"}),
              "caffe: --sigint_effect must be stop, snapshot or none, not "
              "'explode'");
  EXPECT_THAT(Failure({"train", "--sover=x"}), HasSubstr("sover"));
}

TEST_F(CaffeToolTest, SaysThatThereIsNoGpu) {
  const string sentence =
      "caffe: built without CUDA: the GPU is not available; use CPU mode "
      "(solver_mode: CPU, and no --gpu)\n";
  EXPECT_EQ(sentence, Failure({"device_query"}));
  EXPECT_EQ(sentence, Failure({"device_query", "--gpu=all"}));
  EXPECT_EQ(sentence,
            Failure({"train", "--solver=solver.prototxt", "--gpu=0"}));
  EXPECT_EQ(sentence, Failure({"time", "--model=net.prototxt", "--gpu=0,1"}));
  EXPECT_EQ(sentence, Failure({"test", "--model=net.prototxt", "--weights=x",
                               "--gpu=all"}));
  WriteWholeFile(folder_ / "gpu.prototxt",
                 "net: 'net.prototxt' solver_mode: GPU");
  EXPECT_THAT(Failure({"train", "--solver=gpu.prototxt"}), EndsWith(sentence));
}

TEST_F(CaffeToolTest, BadFilesAreNamed) {
  EXPECT_THAT(Failure({"train", "--solver=no.prototxt"}),
              StartsWith("caffe: cannot read no.prototxt: No such file"));
  WriteWholeFile(folder_ / "bad.prototxt", "net: 'net.prototxt'\nbase_rl: 1\n");
  EXPECT_THAT(Failure({"train", "--solver=bad.prototxt"}),
              StartsWith("caffe: bad.prototxt:2:"));
  WriteWholeFile(folder_ / "net_missing.prototxt", "net: 'no_net.prototxt'");
  EXPECT_THAT(FailureLine({"train", "--solver=net_missing.prototxt"}),
              StartsWith("caffe: cannot read no_net.prototxt: No such file"));

  WriteWholeFile(folder_ / "net.prototxt",
                 "layer {\n  name: 'x'\n  type 'y'\n");
  for (const vector<string>& arguments :
       {vector<string>{"train", "--solver=solver.prototxt"},
        vector<string>{"time", "--model=net.prototxt"},
        vector<string>{"test", "--model=net.prototxt", "--weights=w"}}) {
    EXPECT_THAT(FailureLine(arguments), StartsWith("caffe: net.prototxt:3:"));
  }
  WriteWholeFile(folder_ / "net.prototxt",
                 "layer { name: 'odd' type: 'Oddity' }");
  for (const vector<string>& arguments :
       {vector<string>{"train", "--solver=solver.prototxt"},
        vector<string>{"time", "--model=net.prototxt"}}) {
    EXPECT_THAT(FailureLine(arguments),
                StartsWith("caffe: net.prototxt: layer 'odd' (Oddity): unknown "
                           "layer type 'Oddity'"));
  }
}

TEST_F(CaffeToolTest, TrainsTestsAndTimes) {
  const Result train =
      Run({"train", "--solver=solver.prototxt", "--threads=1"});
  ASSERT_EQ(0, train.exit_code) << train.output;
  // Times without a year, as parsers of Caffe's logs know them.
  for (const char* const line :
       {"\nI[0-9]{4} [0-9:.]+ +[0-9]+ [a-z_]+.cpp:[0-9]+] Solving small\n",
        "] Iteration 0, Testing net .#0.\n",
        "]     Test net output #0: loss = [0-9.e-]+ .. 1 = [0-9.e-]+ loss.\n",
        "] Iteration 30 .[0-9.e+-]+ iter/s, [0-9.e-]+s/10 iters., loss = ",
        "]     Train net output #0: loss = [0-9.e-]+ .. 1 = [0-9.e-]+ loss.\n",
        "] Iteration 30, lr = 0.01\n",
        "] Snapshotting to binary proto file s_iter_40.caffemodel\n",
        "] Iteration 40, loss = [0-9.e-]+\n", "] Optimization Done.\n$"}) {
    EXPECT_THAT(train.output, ContainsRegex(line));
  }
  EXPECT_THAT(train.output, Not(HasSubstr("\033")));
  EXPECT_TRUE(Exists("s_iter_40.solverstate"));

  const Result test = Run({"test", "--model=net.prototxt",
                           "--weights=s_iter_40.caffemodel", "--iterations=3"});
  ASSERT_EQ(0, test.exit_code) << test.output;
  for (const char* const line :
       {"] Running for 3 iterations.\n", "] Batch 2, loss = [0-9.e-]+\n",
        "] Loss: [0-9.e-]+\n",
        "] loss = [0-9.e-]+ .. 1 = [0-9.e-]+ loss.\n$"}) {
    EXPECT_THAT(test.output, ContainsRegex(line));
  }
  EXPECT_THAT(test.output, Not(HasSubstr("Batch 3")));

  const Result time =
      Run({"time", "--model=net.prototxt", "--iterations=2", "--phase=TEST"});
  ASSERT_EQ(0, time.exit_code) << time.output;
  for (const char* const line :
       {"] Iteration: 2 forward-backward time: [0-9.e-]+ ms.\n",
        "] Average time per layer: \n",
        "]     hidden\tforward: +[0-9]+.[0-9]{3} ms.\n",
        "]     hidden\tbackward: +[0-9]+.[0-9]{3} ms.\n",
        "] Average Forward pass: [0-9.e-]+ ms.\n",
        "] Average Backward pass: [0-9.e-]+ ms.\n",
        "] Average Forward-Backward: [0-9.e-]+ ms.\n",
        "] Total Time: [0-9.e-]+ ms.\n"}) {
    EXPECT_THAT(time.output, ContainsRegex(line));
  }
}

TEST_F(CaffeToolTest, TimesTrainingWithAndWithoutCompression) {
  const Result time =
      Run({"time", "--solver=solver.prototxt", "--iterations=2"});
  ASSERT_EQ(0, time.exit_code) << time.output;
  for (const char* const line :
       {"] Median of 2 iterations, without and with compression in turn:\n",
        "]     without: [0-9.]+ ms \\([0-9.]+ to [0-9.]+\\).\n",
        "]     with:    [0-9.]+ ms \\([0-9.]+ to [0-9.]+\\).\n",
        "]     ratio:   [0-9]+\\.[0-9]{3}\n"}) {
    EXPECT_THAT(time.output, ContainsRegex(line));
  }
  // Neither tests nor snapshots.
  EXPECT_THAT(time.output, Not(HasSubstr("Testing net")));
  EXPECT_FALSE(Exists("s_iter_7.caffemodel"));
  EXPECT_EQ(
      "caffe: time takes a net (--model) or a solver (--solver), not "
      "both\n",
      Failure({"time", "--solver=solver.prototxt", "--model=net.prototxt"}));
}

TEST_F(CaffeToolTest, LevelsAndStagesChooseLayers) {
  Append("net.prototxt", R"(
    layer { name: 'staged' type: 'Split' bottom: 'data' top: 'x'
            include { stage: 'extra' min_level: 3 } })");
  const vector<vector<string>> commands = {
      {"time", "--model=net.prototxt", "--iterations=1"},
      {"train", "--solver=solver.prototxt"}};
  for (vector<string> command : commands) {
    EXPECT_THAT(Run(command).output, Not(HasSubstr("Creating Layer staged")));
    command.insert(command.end(), {"--stage=other, extra", "--level=3"});
    EXPECT_THAT(Run(command).output, HasSubstr("Creating Layer staged"));
  }
}

TEST_F(CaffeToolTest, StartsFromWeights) {
  ASSERT_EQ(0, Run({"train", "--solver=solver.prototxt"}).exit_code);
  const Result result = Run({"train", "--solver=solver.prototxt",
                             "--weights=s_iter_10.caffemodel, "
                             "s_iter_20.caffemodel"});
  EXPECT_EQ(0, result.exit_code);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("Finetuning from s_iter_10.caffemodel\n"),
                    HasSubstr("Finetuning from s_iter_20.caffemodel\n")));
  EXPECT_THAT(FailureLine({"train", "--solver=solver.prototxt",
                           "--weights=none.caffemodel"}),
              StartsWith("caffe: cannot read none.caffemodel: "));
}

TEST_F(CaffeToolTest, ResumesFromASnapshot) {
  ASSERT_EQ(0, Run({"train", "--solver=solver.prototxt"}).exit_code);
  const string whole = ReadWholeFile(folder_ / "s_iter_40.caffemodel");
  const Result result = Run({"train", "--solver=solver.prototxt",
                             "--snapshot=s_iter_20.solverstate"});
  EXPECT_EQ(0, result.exit_code);
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("Resuming from s_iter_20.solverstate\n"),
            HasSubstr("Iteration 20, "), Not(HasSubstr("Iteration 10 "))));
  EXPECT_EQ(whole, ReadWholeFile(folder_ / "s_iter_40.caffemodel"));

  EXPECT_EQ(
      "caffe: s_iter_20.caffemodel holds the weights of a net, not the state "
      "of a solver; to resume give s_iter_20.solverstate, or start from these "
      "weights with --weights (in a solver: weights)",
      FailureLine({"train", "--solver=solver.prototxt",
                   "--snapshot=s_iter_20.caffemodel"}));
  EXPECT_THAT(FailureLine({"train", "--solver=solver.prototxt",
                           "--snapshot=net.prototxt"}),
              StartsWith("caffe: net.prototxt is "));
}

TEST_F(CaffeToolTest, FindsTheSnapshotByItself) {
  const vector<string> command = {"train", "--solver=solver.prototxt",
                                  "--snapshot=auto"};
  const Result first = Run(command);
  EXPECT_EQ(0, first.exit_code);
  EXPECT_THAT(first.output,
              HasSubstr("No snapshot under s yet: starting from scratch\n"));
  const string whole = ReadWholeFile(folder_ / "s_iter_40.caffemodel");
  std::filesystem::remove(folder_ / "s_iter_40.solverstate");
  std::filesystem::resize_file(folder_ / "s_iter_30.caffemodel", 200);
  const Result second = Run(command);
  EXPECT_EQ(0, second.exit_code);
  EXPECT_THAT(second.output,
              AllOf(HasSubstr("Skipping a snapshot that cannot be used: "),
                    HasSubstr("Resuming from iteration 20\n")));
  EXPECT_EQ(whole, ReadWholeFile(folder_ / "s_iter_40.caffemodel"));

  for (const int iter : {10, 20, 30, 40}) {
    WriteWholeFile(folder_ / Concat("s_iter_", iter, ".solverstate"), "?");
  }
  EXPECT_THAT(FailureLine(command),
              StartsWith("caffe: none of the 4 snapshot(s) under s can be "
                         "used; the newest: "));
}

// Killed again and again at any moment, and resumed by itself, training ends
// with the same bits.
TEST_F(CaffeToolTest, KilledRunsEndWithTheSameWeights) {
  ASSERT_EQ(0, Run({"train", "--solver=solver.prototxt"}).exit_code);
  const string whole = ReadWholeFile(folder_ / "s_iter_40.caffemodel");
  for (const string& name : folder_.Names()) {
    if (name.starts_with("s_iter_")) std::filesystem::remove(folder_ / name);
  }
  // Snapshots all the time, so that many a kill hits one.
  string solver = kSolver;
  solver.replace(solver.find("snapshot: 10"), 12, "snapshot: 1");
  WriteWholeFile(folder_ / "solver.prototxt", solver);
  const vector<string> command = {"train", "--solver=solver.prototxt",
                                  "--snapshot=auto"};
  int kills = 0;
  for (int run = 0; run < 12 && !Exists("s_iter_40.solverstate"); ++run) {
    Child child(folder_.path(), command);
    child.WaitFor("Starting Optimization");
    std::this_thread::sleep_for(std::chrono::milliseconds(run * 37 % 101));
    child.Signal(SIGKILL);
    const Result result = child.Wait();
    ASSERT_THAT(result.exit_code, ::testing::AnyOf(0, -SIGKILL))
        << result.output;
    if (result.exit_code != 0) ++kills;
  }
  EXPECT_LT(0, kills);
  const Result last = Run(command);
  ASSERT_EQ(0, last.exit_code) << last.output;
  EXPECT_THAT(last.output, Not(HasSubstr("Skipping")));
  EXPECT_EQ(whole, ReadWholeFile(folder_ / "s_iter_40.caffemodel"));
}

TEST_F(CaffeToolTest, SignalsStopAndSnapshot) {
  string solver = kSolver;
  solver.replace(solver.find("max_iter: 40"), 12, "max_iter: 100000000");
  solver.replace(solver.find("snapshot: 10"), 12, "snapshot: 0");
  solver.replace(solver.find("display: 10"), 11, "display: 1000000");
  solver.replace(solver.find("test_interval: 20"), 17, "test_interval: 20000");
  WriteWholeFile(folder_ / "solver.prototxt", solver + "snapshot_diff: false");
  Child child(folder_.path(), {"train", "--solver=solver.prototxt"});
  child.WaitFor("Starting Optimization");
  child.Signal(SIGHUP);
  child.WaitFor("Snapshotting solver state");
  child.Signal(SIGINT);
  const Result result = child.Wait();
  EXPECT_EQ(0, result.exit_code) << result.output;
  const string& output = result.output;
  const size_t first = output.find("] Snapshotting solver state");
  EXPECT_NE(string::npos,
            output.find("] Snapshotting solver state", first + 1));
  EXPECT_THAT(output, HasSubstr("Optimization stopped early.\n"));
}

TEST_F(CaffeToolTest, AFullDiskIsExplainedAndLeavesThePreviousSnapshotWhole) {
  ASSERT_EQ(0, Run({"train", "--solver=solver.prototxt"}).exit_code);
  std::filesystem::remove(folder_ / "s_iter_40.solverstate");
  std::filesystem::remove(folder_ / "s_iter_40.caffemodel");
  const vector<string> before = folder_.Names();
  Child child(folder_.path(),
              {"train", "--solver=solver.prototxt", "--snapshot=auto"},
              [] { LimitFileSize(500); });
  const Result result = child.Wait();
  EXPECT_EQ(1, result.exit_code) << result.output;
  EXPECT_TRUE(result.output.ends_with(
      "\ncaffe: cannot write s_iter_40.caffemodel: File too large\n"))
      << result.output;
  EXPECT_EQ(before, folder_.Names());
  EXPECT_EQ(
      0,
      Run({"train", "--solver=solver.prototxt", "--snapshot=auto"}).exit_code);
}

TEST_F(CaffeToolTest, ShowsProgressOnATerminal) {
  string solver = kSolver;
  solver.replace(solver.find("max_iter: 40"), 12, "max_iter: 100000000");
  solver.replace(solver.find("snapshot: 10"), 12, "snapshot: 0");
  WriteWholeFile(folder_ / "solver.prototxt",
                 solver + "snapshot_after_train: false");
  int terminal = -1;
  const winsize size = {24, 200, 0, 0};
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    Child::Execute(folder_.path(),
                   {"train", "--solver=solver.prototxt", "--minloglevel=1"});
  }
  string output;
  char buffer[4096];
  for (ssize_t n; output.find(" MB\033[K\r") == string::npos &&
                  (n = read(terminal, buffer, sizeof(buffer))) > 0;) {
    output.append(buffer, n);
  }
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  EXPECT_THAT(output,
              ContainsRegex("iteration [0-9]+/100000000, loss [0-9.e-]+, lr "
                            "0.01, [0-9]+ images/s, ETA [0-9hms]+, [0-9]+ MB"));
}

}  // namespace caffe
