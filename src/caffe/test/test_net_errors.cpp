#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What a net of these layers, after an input 'x' of 1 x 2 values, says is
// wrong with it.
static string Complaint(const string& layers) {
  return ErrorOf([&] {
    MakeNet<float>(R"(
        layer { name: 'in' type: 'Input' top: 'x'
                input_param { shape { dim: 1 dim: 2 } } })" +
                   layers);
  });
}

TEST(NetErrorsTest, UnknownLayerType) {
  const string complaint = Complaint("layer { name: 'a' type: 'Afine' }");
  EXPECT_THAT(complaint, StartsWith("layer 'a' (Afine): unknown layer type "
                                    "'Afine' (known types: "));
  EXPECT_THAT(complaint, HasSubstr(", Affine, "));
}

TEST(NetErrorsTest, MissingLayerType) {
  EXPECT_THAT(Complaint("layer { name: 'a' }"),
              StartsWith("layer 'a' (): unknown layer type ''"));
}

TEST(NetErrorsTest, LayersInPythonWithoutPython) {
  EXPECT_THAT(Complaint("layer { name: 'a' type: 'Python' }"),
              StartsWith("layer 'a' (Python): layers of type 'Python' need "
                         "Python: "));
}

TEST(NetErrorsTest, UnknownBottom) {
  EXPECT_EQ(
      "layer 'a' (Affine): unknown bottom blob 'y' (bottom index 0): no layer "
      "before makes it",
      Complaint("layer { name: 'a' type: 'Affine' bottom: 'y' top: 'z' }"));
  // A layer's own top is not there before the layer.
  EXPECT_THAT(
      Complaint("layer { name: 'a' type: 'Affine' bottom: 'a' top: 'a' }"),
      StartsWith("layer 'a' (Affine): unknown bottom blob 'a'"));
}

TEST(NetErrorsTest, LayersInTheWrongOrder) {
  EXPECT_THAT(Complaint(R"(
      layer { name: 'b' type: 'Affine' bottom: 'a' top: 'b' }
      layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' })"),
              StartsWith("layer 'b' (Affine): unknown bottom blob 'a'"));
}

TEST(NetErrorsTest, TwoBlobsOfOneName) {
  const string complaint =
      "top blob 'a' (top index 0) has the name of an "
      "earlier blob";
  EXPECT_THAT(Complaint(R"(
      layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
      layer { name: 'b' type: 'Affine' bottom: 'x' top: 'a' })"),
              StartsWith("layer 'b' (Affine): " + complaint));
  EXPECT_THAT(Complaint("layer { name: 'b' type: 'Input' top: 'b' top: 'b' }"),
              StartsWith("layer 'b' (Input): top blob 'b' (top index 1)"));
}

TEST(NetErrorsTest, InPlaceWhereOthersReadToo) {
  EXPECT_THAT(Complaint(R"(
      layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
      layer { name: 'b' type: 'Affine' bottom: 'x' top: 'x' })"),
              HasSubstr("layer 'b' (Affine): top blob 'x' (top index 0) has "
                        "the name of an earlier blob; only a layer that works "
                        "in place may use it again: the only reader"));
}

TEST(NetErrorsTest, InPlaceAtAnotherIndex) {
  EXPECT_THAT(Complaint(R"(
      layer { name: 'more' type: 'Input' top: 'z' }
      layer { name: 'b' type: 'Split' bottom: 'z' bottom: 'x' top: 'x' })"),
              HasSubstr("the name at the same index among its bottoms"));
}

TEST(NetErrorsTest, WrongNumbersOfBlobs) {
  EXPECT_EQ("layer 'a' (Affine): takes 1 bottom blob(s), not 0",
            Complaint("layer { name: 'a' type: 'Affine' top: 'a' }"));
  EXPECT_EQ("layer 'a' (Affine): takes 1 top blob(s), not 0",
            Complaint("layer { name: 'a' type: 'Affine' bottom: 'x' }"));
}

TEST(NetErrorsTest, WrongNumberOfPropagateDown) {
  EXPECT_EQ(
      "layer 'a' (Affine): has 2 propagate_down(s) for 1 bottom(s); give one "
      "for each bottom or none",
      Complaint("layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' "
                "propagate_down: true propagate_down: true }"));
}

TEST(NetErrorsTest, TooManyParams) {
  EXPECT_EQ("layer 'a' (Affine): has 3 param(s) for 2 parameter blob(s)",
            Complaint("layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' "
                      "param { } param { } param { } }"));
}

TEST(NetErrorsTest, WrongNumberOfLossWeights) {
  EXPECT_THAT(Complaint("layer { name: 'a' type: 'Affine' bottom: 'x' "
                        "top: 'a' loss_weight: 1 loss_weight: 2 }"),
              StartsWith("layer 'a' (Affine): has 2 loss_weight(s) for 1"));
}

TEST(NetErrorsTest, LayersWithParametersNeedNamesOfTheirOwn) {
  EXPECT_EQ(
      "layer 'a' (Affine): another layer has that name; a layer with "
      "parameters "
      "needs one of its own, under which they are saved",
      Complaint(R"(
          layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
          layer { name: 'a' type: 'Softmax' bottom: 'a' top: 'b' })"));
  EXPECT_EQ(
      "layer '' (Affine): has no name; a layer with parameters needs one of "
      "its "
      "own, under which they are saved",
      Complaint("layer { type: 'Affine' bottom: 'x' top: 'a' }"));
}

TEST(NetErrorsTest, ShapesThatDoNotFit) {
  EXPECT_EQ(
      "layer 'loss' (EuclideanLoss): its data and its targets must have the "
      "same first axis, not 1 2 (2) and 3 2 (6)",
      Complaint(R"(
          layer { name: 'more' type: 'Input' top: 'y'
                  input_param { shape { dim: 3 dim: 2 } } }
          layer { name: 'loss' type: 'EuclideanLoss' bottom: 'x'
                  bottom: 'y' })"));
}

TEST(NetErrorsTest, ErrorsOnTheWayNameTheLayerToo) {
  const auto net = MakeNet<float>(R"(
      layer { name: 'in' type: 'Input' top: 'x' top: 'label' input_param {
              shape { dim: 1 dim: 2 } shape { dim: 1 } } }
      layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' }
      layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'a'
              bottom: 'label' })");
  net->blob_by_name("label")->mutable_cpu_data()[0] = 2;
  EXPECT_THAT(ErrorOf([&] { net->Forward(); }),
              StartsWith("layer 'loss' (SoftmaxWithLoss): label 2 "));
  EXPECT_THAT(ErrorOf([&] { net->Backward(); }),
              StartsWith("layer 'loss' (SoftmaxWithLoss): label 2 "));
  net->blob_by_name("x")->Reshape({1, 3});
  EXPECT_EQ("layer 'a' (Affine): its samples changed their size",
            ErrorOf([&] { net->Reshape(); }));
}

}  // namespace caffe
