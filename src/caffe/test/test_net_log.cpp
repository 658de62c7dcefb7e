#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "log_recorder.hpp"
#include "net_test_util.hpp"

namespace caffe {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

static const char* const kNet = R"(
  layer { name: 'in' type: 'Input' top: 'x'
          input_param { shape { dim: 1 dim: 2 } } }
  layer { name: 'a' type: 'Affine' bottom: 'x' top: 'y'
          power_param { scale: 2 } param { name: 'w' } }
  layer { name: 'b' type: 'Affine' bottom: 'y' top: 'z' loss_weight: 3
          power_param { shift: 1 } param { name: 'w' } param { lr_mult: 0 } })";

TEST(NetLogTest, TellsHowTheNetIsBuilt) {
  LogRecorder log;
  MakeNet<float>(kNet);
  vector<string> lines = log.Take();
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines[0], HasSubstr("Initializing net from parameters"));
  lines.erase(lines.begin());
  EXPECT_THAT(
      lines,
      ElementsAre(
          "Creating Layer in", "in -> x", "Setting up in", "Top shape: 1 2 (2)",
          "Memory required for data: 8", "Creating Layer a", "a <- x", "a -> y",
          "Setting up a", "Top shape: 1 2 (2)", "Memory required for data: 16",
          "Creating Layer b", "b <- y", "b -> z", "Setting up b",
          "Top shape: 1 2 (2)", "    with loss weight 3",
          "Memory required for data: 24",
          "Sharing parameters 'w' owned by layer 'a', param index 0",
          "b needs backward computation.", "a needs backward computation.",
          "in does not need backward computation.",
          "This network produces output z", "Network initialization done."));
}

TEST(NetLogTest, WeightsInTheSettingsAreNotPrinted) {
  NetParameter param;
  MakeNet<float>(kNet)->ToProto(&param);
  LogRecorder log;
  Net<float> net(param);
  EXPECT_THAT(log.Take(), Not(Contains(HasSubstr("blobs {"))));
}

TEST(NetLogTest, OnlyTheRootSolverTells) {
  Caffe::set_solver_rank(1);
  LogRecorder log;
  const auto net = MakeNet<float>(kNet);
  net->set_debug_info(true);
  net->ForwardBackward();
  net->Update();
  EXPECT_THAT(log.Take(), ElementsAre());
  Caffe::set_solver_rank(0);
}

TEST(NetLogTest, DebugInfoShowsMeanAbsoluteValues) {
  const auto net = MakeNet<float>(string("debug_info: true") + kNet);
  Set<float>({1, -3}, net->input_blobs()[0]);
  net->ClearParamDiffs();
  LogRecorder log;
  // y = 2 -6, z = 5 -11.
  net->Forward();
  EXPECT_THAT(log.Take(),
              ElementsAre("    [Forward] Layer in, top blob x data: 2",
                          "    [Forward] Layer a, top blob y data: 4",
                          "    [Forward] Layer a, param blob w data: 2",
                          "    [Forward] Layer a, param blob 1 data: 0",
                          "    [Forward] Layer b, top blob z data: 8",
                          "    [Forward] Layer b, param blob w data: 2",
                          "    [Forward] Layer b, param blob 1 data: 1"));
  // dz = 3 3, dy = 6 6, dw = 6 -18 by b and 6 -18 by a; only a's offsets learn.
  net->Backward();
  EXPECT_THAT(
      log.Take(),
      ElementsAre("    [Backward] Layer b, bottom blob y diff: 6",
                  "    [Backward] Layer b, param blob w diff: 12",
                  "    [Backward] Layer a, param blob w diff: 24",
                  "    [Backward] Layer a, param blob 1 diff: 6",
                  "    [Backward] All net params (data, diff): L1 norm = (6, "
                  "60); L2 norm = (3.16228, 38.8844)"));
  net->Update();
  EXPECT_THAT(log.Take(),
              ElementsAre("    [Update] Layer a, param w data: 2; diff: 24",
                          "    [Update] Layer a, param 1 data: 0; diff: 6",
                          "    [Update] Layer b, param blob w (owned by layer "
                          "a, param blob w) diff: 24",
                          "    [Update] Layer b, param 1 data: 1; diff: 0"));
  net->set_debug_info(false);
  net->ForwardBackward();
  EXPECT_THAT(log.Take(), ElementsAre());
}

TEST(NetLogTest, NamesSourceLayersThatNobodyTakes) {
  const auto net = MakeNet<float>(kNet);
  LogRecorder log;
  net->CopyTrainedLayersFrom(
      ParseNet("layer { name: 'gone' blobs { data: 1 } } "
               "layer { name: 'data' }"));
  EXPECT_THAT(log.Take(), ElementsAre("Ignoring source layer gone"));
}

}  // namespace caffe
