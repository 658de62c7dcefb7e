#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "caffe/test/test_caffe_main.hpp"
#include "temporary_folder.hpp"

// Runs `caffe train --dump_activations` as a user does.

namespace caffe {

namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Values that are easy to follow: 'x' is -6, -12, -24, then 0, all in the same
// memory, which two layers read at the end. Names are as odd as users'.
constexpr const char* kNet = R"(
  layer { name: 'input' type: 'DummyData' top: 'data' top: 'target'
          dummy_data_param { shape { dim: 3 dim: 2 } shape { dim: 3 dim: 4 }
                             data_filler { value: 3 }
                             data_filler { value: 1 } } }
  layer { name: 'first' type: 'InnerProduct' bottom: 'data' top: 'x'
          inner_product_param { num_output: 4 weight_filler { value: -1 } } }
  layer { name: 'a/b' type: 'Scale' bottom: 'x' top: 'x'
          scale_param { filler { value: 2 } } }
  layer { name: 'a b' type: 'Scale' bottom: 'x' top: 'x'
          scale_param { filler { value: 2 } } }
  layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'x' }
  layer { name: 'say "one", again' type: 'InnerProduct' bottom: 'x' top: 'y'
          inner_product_param { num_output: 4 bias_filler { value: 5 } } }
  layer { name: 'other' type: 'InnerProduct' bottom: 'x' top: 'z'
          inner_product_param { num_output: 4 } }
  layer { name: 'last' type: 'Pooling' bottom: 'image' top: 'pooled'
          pooling_param { kernel_size: 2 } }
  layer { name: 'quiet' type: 'Silence' bottom: 'pooled' }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target' }
  layer { name: 'loss_z' type: 'EuclideanLoss' bottom: 'z' bottom: 'target' }
)";
constexpr const char* kImage = R"(
  layer { name: 'image' type: 'DummyData' top: 'image'
          dummy_data_param { shape { dim: 1 dim: 2 dim: 2 dim: 3 }
                             data_filler { type: 'gaussian' } } }
)";

constexpr const char* kSolver = R"(
net: 'net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 3
random_seed: 5 snapshot_prefix: 's' solver_mode: CPU
)";

class ActivationDumpTest : public ::testing::Test {
 protected:
  ActivationDumpTest() {
    WriteWholeFile(folder_ / "net.prototxt", string(kImage) + kNet);
    WriteWholeFile(folder_ / "solver.prototxt", kSolver);
  }

  // The exit code; what the program prints goes to `output_`.
  int Run(const string& program, const string& arguments) {
    const string log = folder_ / "log";
    const string command = Concat("cd ", folder_.path(), " && ", TOOLS_DIR "/",
                                  program, " ", arguments, " > ", log, " 2>&1");
    const int status = std::system(command.c_str());
    output_ = ReadWholeFile(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int Train(const string& flags) {
    return Run("caffe", "train --solver=solver.prototxt " + flags);
  }
  void ExpectFails(const string& flags, const string& last_line) {
    EXPECT_EQ(1, Train(flags));
    EXPECT_THAT("\n" + output_, EndsWith("\ncaffe: " + last_line + "\n"));
  }

  // The values in a .npy file of that many.
  vector<float> Values(const string& file, size_t count) const {
    const string bytes = ReadWholeFile(folder_ / file);
    vector<float> values(count);
    const size_t size = count * sizeof(float);
    EXPECT_GE(bytes.size(), size) << file;
    if (bytes.size() < size) return values;
    std::memcpy(values.data(), bytes.data() + bytes.size() - size, size);
    return values;
  }
  vector<string> Names(const string& name) const {
    vector<string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / name)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const TemporaryFolder folder_;
  string output_;
};

TEST_F(ActivationDumpTest, WritesWhatLayersReadBeforeOthersOverwriteIt) {
  ASSERT_EQ(0, Train("--dump_activations=deep/d")) << output_;
  EXPECT_THAT(output_, HasSubstr("] Iteration 0: wrote 5 tensors that layers "
                                 "read to deep/d\n"));
  EXPECT_THAT(
      Names("deep/d"),
      ElementsAre("a_b.x.npy", "a_b.x_2.npy", "first.data.npy", "index.csv",
                  "last.image.npy", "say__one___again.x_relu_0_split_0.npy"));
  EXPECT_EQ(vector<float>(6, 3), Values("deep/d/first.data.npy", 6));
  EXPECT_EQ(vector<float>(12, -6), Values("deep/d/a_b.x.npy", 12));
  EXPECT_EQ(vector<float>(12, -12), Values("deep/d/a_b.x_2.npy", 12));
  EXPECT_EQ(vector<float>(12, 0),
            Values("deep/d/say__one___again.x_relu_0_split_0.npy", 12));
  EXPECT_THAT(ReadWholeFile(folder_ / "deep/d/last.image.npy"),
              HasSubstr("'<f4', 'fortran_order': False, 'shape': (1, 2, 2, "
                        "3), }"));

  const string index = ReadWholeFile(folder_ / "deep/d/index.csv");
  EXPECT_THAT(index,
              StartsWith("file,layer,type,blob,shape,mean,std,zero_fraction\n"
                         "first.data.npy,\"first\",InnerProduct,\"data\",3x2,3,"
                         "0,0\n"
                         "a_b.x.npy,\"a/b\",Scale,\"x\",3x4,-6,0,0\n"
                         "a_b.x_2.npy,\"a b\",Scale,\"x\",3x4,-12,0,0\n"
                         "say__one___again.x_relu_0_split_0.npy,\"say "
                         "\"\"one\"\", again\",InnerProduct,"
                         "\"x_relu_0_split_0\",3x4,0,0,1\n"
                         "last.image.npy,\"last\",Pooling,\"image\","
                         "1x2x2x3,"));
}

TEST_F(ActivationDumpTest, IndexTellsMeanDeviationAndZeros) {
  WriteWholeFile(folder_ / "net.prototxt", R"(
    layer { name: 'two' type: 'DummyData' top: 'two'
            dummy_data_param { shape { dim: 1 dim: 1 dim: 1 dim: 1 }
                               data_filler { value: 2 } } }
    layer { name: 'none' type: 'DummyData' top: 'none'
            dummy_data_param { shape { dim: 1 dim: 1 dim: 1 dim: 3 } } }
    layer { name: 'all' type: 'Concat' bottom: 'two' bottom: 'none' top: 'all'
            concat_param { axis: 3 } }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'all' top: 'ip'
            inner_product_param { num_output: 1 } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' bottom: 'two' })");
  ASSERT_EQ(0, Train("--dump_activations=d")) << output_;
  // Of 2, 0, 0, 0: the mean 1/2, the mean square 1.
  EXPECT_THAT(ReadWholeFile(folder_ / "d/index.csv"),
              EndsWith(",1x1x1x4,0.5,0.866025,0.75\n"));
}

TEST_F(ActivationDumpTest, WaitsForItsIterationAndTrainingGoesOn) {
  ASSERT_EQ(0, Train(""));
  const string weights = ReadWholeFile(folder_ / "s_iter_3.caffemodel");
  std::filesystem::remove(folder_ / "s_iter_3.caffemodel");
  ASSERT_EQ(0, Train("--dump_activations=d --dump_at=2")) << output_;
  EXPECT_EQ(weights, ReadWholeFile(folder_ / "s_iter_3.caffemodel"));
  ASSERT_EQ(0, Train("--dump_activations=first"));
  EXPECT_NE(ReadWholeFile(folder_ / "first/last.image.npy"),
            ReadWholeFile(folder_ / "d/last.image.npy"));

  ASSERT_EQ(0, Train("--dump_activations=late --dump_at=3"));
  EXPECT_THAT(output_,
              HasSubstr("] Nothing is in late: training ended at iteration 3 "
                        "without iteration 3 of --dump_at\n"));
  EXPECT_THAT(Names("late"), ElementsAre());
}

TEST_F(ActivationDumpTest, TakesTheFirstOfSeveralPasses) {
  ASSERT_EQ(0, Train("--dump_activations=one"));
  WriteWholeFile(folder_ / "solver.prototxt", string(kSolver) + "iter_size: 2");
  ASSERT_EQ(0, Train("--dump_activations=two"));
  EXPECT_EQ(Names("one"), Names("two"));
  EXPECT_EQ(ReadWholeFile(folder_ / "one/index.csv"),
            ReadWholeFile(folder_ / "two/index.csv"));
  EXPECT_EQ(ReadWholeFile(folder_ / "one/last.image.npy"),
            ReadWholeFile(folder_ / "two/last.image.npy"));
}

TEST_F(ActivationDumpTest, CodecBenchReadsTheFolder) {
  ASSERT_EQ(0, Train("--dump_activations=d"));
  ASSERT_EQ(0, Run("codec_bench", "d --codecs=sz --repeats=1 --csv=bench.csv"))
      << output_;
  EXPECT_THAT(ReadWholeFile(folder_ / "bench.csv"),
              HasSubstr("\nlast.image,1x2x2x3,sz-dense,"));
}

TEST_F(ActivationDumpTest, SaysWhyItCannot) {
  ExpectFails("--dump_at=1",
              "--dump_at needs a folder: --dump_activations=FOLDER");
  ExpectFails("--dump_activations=d --dump_at=-1",
              "--dump_at must not be negative");
  for (const char* const folder : {"net.prototxt", "net.prototxt/d"}) {
    ExpectFails(Concat("--dump_activations=", folder),
                Concat("--dump_activations: cannot make the folder ", folder,
                       ": Not a directory"));
  }
  // A folder where a file has to go.
  std::filesystem::create_directories(folder_ / "d/first.data.npy");
  WriteWholeFile(folder_ / "d/index.csv", "of an earlier dump");
  EXPECT_EQ(1, Train("--dump_activations=d"));
  EXPECT_THAT(output_, HasSubstr("\ncaffe: cannot write d/first.data.npy: "));
  EXPECT_THAT(Names("d"), Not(::testing::Contains("index.csv")));
}

}  // namespace

}  // namespace caffe
