#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

// The names of the layers that a net of `layers` keeps in `state`.
static vector<string> Kept(const string& layers, const string& state) {
  NetParameter filtered;
  Net<float>::FilterNet(ParseNet(layers + " state { " + state + " }"),
                        &filtered);
  vector<string> names;
  for (const LayerParameter& layer : filtered.layer()) {
    names.push_back(layer.name());
  }
  return names;
}

static bool Meets(const string& state, const string& rule) {
  const string layer = "layer { name: 'x' include { " + rule + " } }";
  return !Kept(layer, state).empty();
}

TEST(NetFilterTest, WithoutRulesEverythingStays) {
  const string layers = "layer { name: 'a' } layer { name: 'b' }";
  EXPECT_EQ((vector<string>{"a", "b"}), Kept(layers, ""));
  EXPECT_EQ((vector<string>{"a", "b"}),
            Kept(layers, "phase: TRAIN level: 7 stage: 's'"));
}

TEST(NetFilterTest, WhatIsNotALayerStays) {
  NetParameter filtered;
  const NetParameter param = ParseNet(
      "name: 'n' force_backward: true state { phase: TRAIN level: 3 } "
      "layer { name: 'a' include { phase: TEST } }");
  Net<float>::FilterNet(param, &filtered);
  NetParameter expected = param;
  expected.clear_layer();
  EXPECT_EQ(expected.DebugString(), filtered.DebugString());
}

TEST(NetFilterTest, Phase) {
  EXPECT_TRUE(Meets("phase: TRAIN", "phase: TRAIN"));
  EXPECT_FALSE(Meets("phase: TRAIN", "phase: TEST"));
  EXPECT_TRUE(Meets("phase: TEST", "phase: TEST"));
  // A net without a phase is one for testing.
  EXPECT_TRUE(Meets("", "phase: TEST"));
  EXPECT_FALSE(Meets("", "phase: TRAIN"));
  EXPECT_TRUE(Meets("phase: TRAIN", ""));
}

TEST(NetFilterTest, Level) {
  EXPECT_TRUE(Meets("level: 2", "min_level: 2"));
  EXPECT_FALSE(Meets("level: 1", "min_level: 2"));
  EXPECT_TRUE(Meets("level: 2", "max_level: 2"));
  EXPECT_FALSE(Meets("level: 3", "max_level: 2"));
  EXPECT_TRUE(Meets("level: 3", "min_level: 2 max_level: 4"));
  EXPECT_FALSE(Meets("level: 5", "min_level: 2 max_level: 4"));
  EXPECT_TRUE(Meets("", "max_level: 0"));
  EXPECT_FALSE(Meets("", "max_level: -1"));
}

TEST(NetFilterTest, StagesMustAllBeThere) {
  EXPECT_TRUE(Meets("stage: 'a' stage: 'b' stage: 'c'", "stage: 'a'"));
  EXPECT_TRUE(Meets("stage: 'a' stage: 'b'", "stage: 'b' stage: 'a'"));
  EXPECT_FALSE(Meets("stage: 'a'", "stage: 'a' stage: 'b'"));
  EXPECT_FALSE(Meets("", "stage: 'a'"));
}

TEST(NetFilterTest, NoneOfNotStageMayBeThere) {
  EXPECT_TRUE(Meets("", "not_stage: 'a'"));
  EXPECT_TRUE(Meets("stage: 'b'", "not_stage: 'a'"));
  EXPECT_FALSE(Meets("stage: 'a' stage: 'b'", "not_stage: 'a'"));
  EXPECT_FALSE(Meets("stage: 'b'", "not_stage: 'a' not_stage: 'b'"));
  EXPECT_FALSE(Meets("stage: 'a' stage: 'b'", "stage: 'a' not_stage: 'b'"));
  EXPECT_TRUE(Meets("stage: 'a' stage: 'c'", "stage: 'a' not_stage: 'b'"));
}

TEST(NetFilterTest, AllOfARuleMustHold) {
  const string rule = "phase: TRAIN min_level: 1 stage: 's'";
  EXPECT_TRUE(Meets("phase: TRAIN level: 1 stage: 's'", rule));
  EXPECT_FALSE(Meets("phase: TEST level: 1 stage: 's'", rule));
  EXPECT_FALSE(Meets("phase: TRAIN stage: 's'", rule));
  EXPECT_FALSE(Meets("phase: TRAIN level: 1", rule));
}

TEST(NetFilterTest, AnyOfSeveralRulesIsEnough) {
  const string included =
      "layer { name: 'x' include { phase: TRAIN } include { stage: 's' } }";
  EXPECT_EQ(1u, Kept(included, "phase: TRAIN").size());
  EXPECT_EQ(1u, Kept(included, "phase: TEST stage: 's'").size());
  EXPECT_EQ(0u, Kept(included, "phase: TEST").size());
  const string excluded =
      "layer { name: 'x' exclude { phase: TRAIN } exclude { stage: 's' } }";
  EXPECT_EQ(0u, Kept(excluded, "phase: TRAIN").size());
  EXPECT_EQ(0u, Kept(excluded, "phase: TEST stage: 's'").size());
  EXPECT_EQ(1u, Kept(excluded, "phase: TEST").size());
}

TEST(NetFilterTest, TrainingAndTestingHalvesOfOneFile) {
  const string net = R"(
    layer { name: 'data' top: 'x' include { phase: TRAIN } }
    layer { name: 'data' top: 'x' include { phase: TEST stage: 'val' } }
    layer { name: 'input' top: 'x' exclude { phase: TRAIN }
            exclude { stage: 'val' } }
    layer { name: 'loss' bottom: 'x' })";
  EXPECT_EQ((vector<string>{"data", "loss"}), Kept(net, "phase: TRAIN"));
  EXPECT_EQ((vector<string>{"data", "loss"}),
            Kept(net, "phase: TEST stage: 'val'"));
  EXPECT_EQ((vector<string>{"input", "loss"}), Kept(net, "phase: TEST"));
}

TEST(NetFilterTest, RefusesBothKindsOfRules) {
  EXPECT_EQ(
      "layer 'x' (ReLU): has both include and exclude rules; give one kind "
      "only",
      ErrorOf([] {
        Kept(
            "layer { name: 'x' type: 'ReLU' include { phase: TEST } "
            "exclude { phase: TRAIN } }",
            "");
      }));
}

}  // namespace caffe
