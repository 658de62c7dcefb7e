#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include "caffe/proto/caffe.pb.h"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/io.hpp"
#include "temporary_folder.hpp"

// Runs the upgrade programs as a user does.

namespace caffe {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class UpgradeToolsTest : public ::testing::Test {
 protected:
  // The exit code; what the program prints goes to `output_`.
  int Run(const string& program, const string& arguments) {
    const string log = folder_ / "log";
    const string command =
        Concat(TOOLS_DIR "/", program, " ", arguments, " > ", log, " 2>&1");
    const int status = std::system(command.c_str());
    output_ = ReadWholeFile(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const TemporaryFolder folder_;
  const string in_ = folder_ / "in";
  const string out_ = folder_ / "out";
  string output_;
};

constexpr char kOldNet[] =
    "layers { name: 'relu' type: RELU bottom: 'a' top: 'b' }";
constexpr char kNewNet[] =
    "layer {\n  name: \"relu\"\n  type: \"ReLU\"\n  bottom: \"a\"\n"
    "  top: \"b\"\n}\n";

TEST_F(UpgradeToolsTest, NetText) {
  WriteWholeFile(in_, kOldNet);
  EXPECT_EQ(0, Run("upgrade_net_proto_text", in_ + " " + out_)) << output_;
  EXPECT_EQ(kNewNet, ReadWholeFile(out_));
  EXPECT_EQ(0, Run("upgrade_net_proto_text", out_ + " " + in_)) << output_;
  EXPECT_EQ(kNewNet, ReadWholeFile(in_)) << "nothing to do the second time";
  Run("upgrade_net_proto_text", in_ + " /dev/stdout 2>/dev/null | cat");
  EXPECT_EQ(kNewNet, output_);
}

TEST_F(UpgradeToolsTest, NetBinary) {
  NetParameter net;
  WriteWholeFile(in_, kOldNet);
  ReadProtoFromTextFileOrDie(in_, &net);
  net.mutable_layers(0)->add_blobs()->add_data(0.5F);
  WriteProtoToBinaryFile(net, in_);
  EXPECT_EQ(0, Run("upgrade_net_proto_binary", in_ + " " + out_)) << output_;
  ReadProtoFromBinaryFileOrDie(out_, &net);
  EXPECT_EQ(0, net.layers_size());
  ASSERT_EQ(1, net.layer_size());
  EXPECT_EQ("ReLU", net.layer(0).type());
  EXPECT_THAT(net.layer(0).blobs(0).data(), ElementsAre(0.5F));
}

TEST_F(UpgradeToolsTest, SolverText) {
  WriteWholeFile(in_, "base_lr: 0.5 solver_type: ADAM");
  EXPECT_EQ(0, Run("upgrade_solver_proto_text", in_ + " " + out_)) << output_;
  EXPECT_EQ("base_lr: 0.5\ntype: \"Adam\"\n", ReadWholeFile(out_));
}

TEST_F(UpgradeToolsTest, ErrorsAreOneLineAndExitCodeOne) {
  EXPECT_EQ(1, Run("upgrade_net_proto_text", in_ + " " + out_));
  EXPECT_EQ("upgrade_net_proto_text: cannot read " + in_ +
                ": No such file or directory\n",
            output_);
  EXPECT_EQ(1, Run("upgrade_net_proto_binary", in_));
  EXPECT_THAT(output_, HasSubstr("wrong number of arguments"));
  // What can be upgraded is, but not in silence.
  WriteWholeFile(in_, "layers { layer { name: 'r' type: 'relu' pad: 1 } }");
  EXPECT_EQ(1, Run("upgrade_net_proto_text", in_ + " " + out_));
  EXPECT_THAT(output_, HasSubstr("type 'relu' has no parameter pad"));
  EXPECT_THAT(ReadWholeFile(out_), HasSubstr("ReLU"));
}

}  // namespace caffe
