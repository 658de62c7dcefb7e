#include "caffe/backward_reads.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "backward_reads_run.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "cpu/engine.hpp"

// Proves what layers say of their Backward: whatever they do not read is
// overwritten between Forward and Backward, and whatever they promise to write
// before, and the gradients must stay the same, bit for bit.

namespace caffe {

namespace {

// What is special about a case.
Case Tops(int number, Case test) {
  test.tops = number;
  return test;
}
Case InPlace(Case test) {
  test.in_place = true;
  return test;
}
Case LabeledAt(int bottom, Case test) {
  test.labels.push_back(bottom);
  return test;
}
// The last bottom, or more than that.
Case Labeled(Case test, int labels = 1) {
  const int bottoms = static_cast<int>(test.bottoms.size());
  for (int i = bottoms - labels; i < bottoms; ++i) test.labels.push_back(i);
  return test;
}
Case WithoutGradients(Case test) {
  test.propagates = false;
  return test;
}
Case Frozen(const vector<int>& params, Case test) {
  test.frozen = params;
  return test;
}

string Convolution(const string& settings, const char* type = "Convolution") {
  return string("type: '") + type + "' convolution_param { " + settings + " }";
}
string Pooling(const string& settings) {
  return "type: 'Pooling' pooling_param { " + settings + " }";
}

const vector<int> kImages = {2, 3, 4, 5};

vector<Case> ElementwiseCases() {
  const string leaky = "type: 'ReLU' relu_param { negative_slope: 0.1 }";
  const string product = "type: 'Eltwise' eltwise_param { operation: PROD ";
  const string scale = "type: 'Scale' scale_param { bias_term: true }";
  return {
      {"type: 'Bias'", {kImages}, "N/N"},
      InPlace({"type: 'Bias'", {kImages}, "N/N"}),
      Frozen({0}, {"type: 'Bias'", {kImages}, "N/N"}),
      {"type: 'Bias'", {kImages, {3}}, "NN/N"},
      {"type: 'Dropout'", {kImages}, "N/N"},
      InPlace({"type: 'Dropout'", {kImages}, "N/N"}),
      {"type: 'Dropout' phase: TEST", {kImages}, "N/N"},
      {"type: 'Eltwise'", {kImages, kImages, kImages}, "NNN/N"},
      {"type: 'Eltwise' eltwise_param { coeff: 2 coeff: -0.5 }",
       {kImages, kImages},
       "NN/N"},
      {"type: 'Eltwise' eltwise_param { operation: MAX }",
       {kImages, kImages, kImages},
       "NNN/N"},
      {product + "}", {kImages, kImages, kImages}, "VVV/N"},
      {product + "stable_prod_grad: false }", {kImages, kImages}, "EE/E"},
      {"type: 'ReLU'", {kImages}, "N/Z"},
      InPlace({"type: 'ReLU'", {kImages}, "N/Z"}),
      {leaky, {kImages}, "N/S"},
      InPlace({leaky, {kImages}, "N/S"}),
      {"type: 'ReLU' relu_param { negative_slope: -0.5 }", {kImages}, "S/N"},
      {scale, {kImages}, "V/N"},
      InPlace({scale, {kImages}, "N/N kept_bottom:V"}),
      Frozen({0}, {scale, {kImages}, "N/N"}),
      Frozen({0, 1}, InPlace({scale, {kImages}, "N/N"})),
      {scale, {kImages, {3}}, "VE/N"},
      InPlace({"type: 'Scale' scale_param { axis: 0 }",
               {kImages, {2, 3}},
               "NE/N kept_bottom:V"}),
  };
}

// Layers that compute a function of every value.
vector<Case> NeuronCases() {
  const string clip = "type: 'Clip' clip_param { min: -0.5 max: 1 }";
  const string elu = "type: 'ELU' elu_param { alpha: 0.5 }";
  const string log = "type: 'Log' log_param { shift: 9 }";
  const string square = "type: 'Power' power_param { power: 2 }";
  const string inverse = "type: 'Power' power_param { power: -1 }";
  return {
      {"type: 'AbsVal'", {kImages}, "S/Z"},
      {"type: 'BNLL'", {kImages}, "N/V"},
      InPlace({"type: 'BNLL'", {kImages}, "N/V"}),
      {clip, {kImages}, "N/N mask:E"},
      InPlace({clip, {kImages}, "N/N mask:E"}),
      {"type: 'ELU'", {kImages}, "N/V"},
      InPlace({"type: 'ELU'", {kImages}, "N/V"}),
      {elu, {kImages}, "N/V mask:E"},
      InPlace({elu, {kImages}, "N/V mask:E"}),
      {"type: 'Exp'", {kImages}, "N/V"},
      InPlace({"type: 'Exp'", {kImages}, "N/V"}),
      {log, {kImages}, "N/V"},
      InPlace({log, {kImages}, "N/V"}),
      {"type: 'Power'", {kImages}, "N/N"},
      InPlace({"type: 'Power' power_param { scale: 2 }", {kImages}, "N/N"}),
      {"type: 'Power' power_param { power: 0 }", {kImages}, "N/N"},
      {square, {kImages}, "V/N"},
      InPlace({square, {kImages}, "N/N kept_bottom:V"}),
      {inverse, {kImages}, "E/N"},
      InPlace({inverse, {kImages}, "N/N kept_bottom:E"}),
      {"type: 'Power' power_param { power: 2.5 shift: 9 }", {kImages}, "E/N"},
      {"type: 'PReLU'", {kImages}, "V/N mask:E"},
      InPlace({"type: 'PReLU'", {kImages}, "N/N mask:E kept_bottom:V"}),
      WithoutGradients({"type: 'PReLU'", {kImages}, "V/N mask:E"}),
      Frozen({0}, {"type: 'PReLU'", {kImages}, "N/N mask:E"}),
      Frozen({0}, InPlace({"type: 'PReLU'", {kImages}, "N/N mask:E"})),
      {"type: 'Sigmoid'", {kImages}, "N/V"},
      InPlace({"type: 'Sigmoid'", {kImages}, "N/V"}),
      {"type: 'Swish'", {kImages}, "V/N"},
      InPlace({"type: 'Swish'", {kImages}, "N/N kept_bottom:V"}),
      {"type: 'TanH'", {kImages}, "N/V"},
      InPlace({"type: 'TanH'", {kImages}, "N/V"}),
      WithoutGradients({"type: 'Threshold'", {kImages}, "N/N"}),
      WithoutGradients(InPlace({"type: 'Threshold'", {kImages}, "N/N"})),
  };
}

vector<Case> ImageCases() {
  const string convolution = Convolution("num_output: 4 kernel_size: 3");
  const string deconvolution =
      Convolution("num_output: 6 kernel_size: 3 group: 3 stride: 2 pad: 1",
                  "Deconvolution");
  const string product =
      "type: 'InnerProduct' inner_product_param { num_output: 4 ";
  const string embed =
      "type: 'Embed' embed_param { num_output: 4 input_dim: 3 }";
  const string mvn = "type: 'MVN' mvn_param { ";
  return {
      {Convolution("num_output: 4 kernel_size: 3 pad: 1"), {kImages}, "V/N"},
      Tops(2, {Convolution("num_output: 3 kernel_size: 3 group: 3 stride: 2"),
               {kImages, kImages},
               "VV/NN"}),
      {Convolution("num_output: 4 kernel_size: 1 stride: 2"), {kImages}, "V/N"},
      WithoutGradients({convolution, {kImages}, "V/N"}),
      Frozen({0}, {convolution, {kImages}, "N/N"}),
      Frozen({0, 1}, {convolution, {kImages}, "N/N"}),
      {deconvolution, {kImages}, "V/N"},
      Frozen({0}, {deconvolution, {kImages}, "N/N"}),
      {product + "}", {kImages}, "V/N"},
      {product + "transpose: true }", {kImages}, "V/N"},
      Frozen({0}, {product + "}", {kImages}, "N/N"}),
      Labeled({embed, {{4, 2}}, "E/N"}),
      Frozen({0}, Labeled({embed, {{4, 2}}, "N/N"})),
      {"type: 'Im2col' convolution_param { kernel_size: 2 pad: 1 }",
       {kImages},
       "N/N"},
      {"type: 'LRN' lrn_param { local_size: 3 }", {kImages}, "V/N"},
      {"type: 'LRN' lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL }",
       {kImages},
       "V/N"},
      {"type: 'BatchNorm'", {kImages}, "V/N"},
      InPlace({"type: 'BatchNorm'", {kImages}, "N/N x_norm:V"}),
      {"type: 'BatchNorm' batch_norm_param { use_global_stats: true }",
       {kImages},
       "N/N"},
      InPlace({"type: 'BatchNorm' phase: TEST", {kImages}, "N/N"}),
      {"type: 'MVN'", {kImages}, "V/N mean:E deviation:E"},
      InPlace({mvn + "across_channels: true }",
               {kImages},
               "N/N mean:E deviation:E kept_bottom:V"}),
      {mvn + "normalize_variance: false }", {kImages}, "N/N"},
      InPlace({mvn + "normalize_variance: false }", {kImages}, "N/N"}),
      {Pooling("pool: MAX kernel_size: 3 stride: 2 pad: 1"),
       {kImages},
       "N/N positions:E"},
      Tops(2, {Pooling("pool: MAX kernel_size: 2 stride: 2"),
               {kImages},
               "N/NN positions:E"}),
      {Pooling("pool: MAX kernel_size: 1 stride: 2"),
       {kImages},
       "N/N positions:E"},
      {Pooling("pool: MAX global_pooling: true"),
       {{1, 2, 17, 16}},
       "N/N positions:E"},
      {Pooling("pool: AVE kernel_size: 3 stride: 2 pad: 1"), {kImages}, "N/N"},
      {Pooling("pool: AVE kernel_size: 1 stride: 3"), {kImages}, "N/N"},
      {Pooling("pool: AVE global_pooling: true"), {kImages}, "N/N"},
      {Pooling("pool: STOCHASTIC kernel_size: 2 stride: 2"), {kImages}, "N/N"},
      {"type: 'SPP' spp_param { pyramid_height: 2 }",
       {kImages},
       "N/N positions0:E positions1:E"},
      {"type: 'SPP' spp_param { pyramid_height: 2 pool: AVE }",
       {kImages},
       "N/N"},
  };
}

// Layers that pass values on as they are.
vector<Case> MovingCases() {
  return {
      Labeled({"type: 'BatchReindex'", {{3, 4}, {5}}, "NE/N"}),
      {"type: 'Concat'", {kImages, {2, 1, 4, 5}}, "NN/N"},
      {"type: 'Concat'", {kImages}, "N/N"},
      {"type: 'Crop' crop_param { offset: 1 }",
       {kImages, {2, 3, 2, 3}},
       "NN/N"},
      Tops(2, Labeled({"type: 'Filter'", {{4, 3}, {4}, {4}}, "NNN/NN"})),
      {"type: 'Flatten'", {kImages}, "N/N"},
      {"type: 'Reshape' reshape_param { shape { dim: 0 dim: -1 } }",
       {kImages},
       "N/N"},
      Tops(0, {"type: 'Silence'", {kImages, kImages}, "NN/"}),
      Tops(2,
           {"type: 'Slice' slice_param { slice_point: 1 }", {kImages}, "N/NN"}),
      {"type: 'Slice'", {kImages}, "N/N"},
      Tops(3, {"type: 'Split'", {kImages}, "N/NNN"}),
      {"type: 'Tile' tile_param { tiles: 3 }", {kImages}, "N/N"},
  };
}

// Layers over time; those that unroll a net list all of its blobs.
vector<Case> SequenceCases() {
  const auto recurrent = [](const string& type, const string& more = "") {
    return "type: '" + type + "' recurrent_param { num_output: 2 " + more +
           " }";
  };
  const vector<int> steps = {2, 3};
  const vector<int> x = {2, 3, 4};
  const vector<int> state = {1, 3, 2};
  return {
      Tops(2,
           Labeled({"type: 'LSTMUnit'", {state, {1, 3, 8}, {1, 3}}, "VVE/NN"})),
      Labeled({recurrent("LSTM"),
               {x, steps},
               "VN/N cont_1:E cont_2:E W_xc_x:N W_xc_x_1:N W_xc_x_2:N "
               "h_conted_0:V W_hc_h_0:N gate_input_1:V c_1:V h_1:V "
               "h_conted_1:V W_hc_h_1:N gate_input_2:V c_2:N h_2:N"}),
      LabeledAt(1, {recurrent("LSTM"),
                    {x, steps, {3, 5}},
                    "VNV/N cont_1:E cont_2:E W_xc_x:N "
                    "W_xc_x_static_preshape:N W_xc_x_1:N W_xc_x_2:N "
                    "h_conted_0:V W_hc_h_0:N gate_input_1:V c_1:V h_1:V "
                    "h_conted_1:V W_hc_h_1:N gate_input_2:V c_2:N h_2:N"}),
      Tops(3, LabeledAt(
                  1, {recurrent("LSTM", "expose_hidden: true"),
                      {x, steps, state, state},
                      "VNVV/NNN cont_1:E cont_2:E W_xc_x:N W_xc_x_1:N "
                      "W_xc_x_2:N h_conted_0:V W_hc_h_0:N gate_input_1:V "
                      "c_1:V h_1:V h_conted_1:V W_hc_h_1:N gate_input_2:V"})),
      Labeled(
          {recurrent("RNN"),
           {x, steps},
           "VN/N cont_1:N cont_2:E W_xh_x:N W_xh_x_1:N W_xh_x_2:N "
           "h_conted_0:V W_hh_h_0:N h_neuron_input_1:N h_1:V W_ho_h_1:N o_1:V "
           "h_conted_1:V W_hh_h_1:N h_neuron_input_2:N h_2:V W_ho_h_2:N "
           "o_2:V"}),
      // One step, whose outputs are the state, too.
      Labeled({recurrent("LSTM"),
               {{1, 3, 4}, {1, 3}},
               "VE/N W_xc_x:N h_conted_0:V W_hc_h_0:N gate_input_1:V "
               "c_1:N"}),
  };
}

// Layers at the ends of a net.
vector<Case> EndCases() {
  const string dummy =
      "type: 'DummyData' dummy_data_param { shape { dim: 3 } "
      "data_filler { type: 'gaussian' } ";
  const string reduction =
      "type: 'Reduction' reduction_param { axis: 1 operation: ";
  return {
      Tops(2, WithoutGradients(
                  Labeled({"type: 'Accuracy'", {{4, 3}, {4}}, "NN/NN"}))),
      WithoutGradients({"type: 'ArgMax'", {kImages}, "N/N"}),
      Labeled({"type: 'ContrastiveLoss'", {{4, 3}, {4, 3}, {4}}, "NNE/N"}),
      {"type: 'EuclideanLoss'", {kImages, kImages}, "NN/N"},
      {"type: 'Parameter' parameter_param { shape { dim: 3 } }", {}, "/N"},
      {"type: 'Reduction'", {kImages}, "N/N"},
      {reduction + "ASUM }", {kImages}, "E/N"},
      {reduction + "SUMSQ }", {kImages}, "V/N"},
      {reduction + "MEAN }", {kImages}, "N/N"},
      Labeled({"type: 'HingeLoss'", {{4, 3}, {4}}, "EE/N"}),
      Labeled({"type: 'InfogainLoss'", {{4, 3}, {4}, {3, 3}}, "NEE/N"}, 2),
      Tops(2, Labeled({"type: 'InfogainLoss' loss_param { ignore_label: 1 }",
                       {{4, 3}, {4}, {3, 3}},
                       "NEE/NE"},
                      2)),
      Labeled({"type: 'MultinomialLogisticLoss'", {{4, 3}, {4}}, "EE/N"}),
      Labeled({"type: 'SigmoidCrossEntropyLoss'", {{4, 3}, {4, 3}}, "EE/N"}),
      {"type: 'Softmax'", {kImages}, "N/E"},
      InPlace({"type: 'Softmax'", {kImages}, "N/E"}),
      Labeled({"type: 'SoftmaxWithLoss'", {{4, 3}, {4}}, "NE/N"}),
      Tops(2, Labeled({"type: 'SoftmaxWithLoss' loss_param { ignore_label: 1 }",
                       {{4, 3}, {4}},
                       "NE/NE"})),
      Tops(2, {dummy + "}", {}, "/NN"}),
      Tops(2, {dummy + "data_filler { type: 'constant' } }", {}, "undeclared"}),
      {"type: 'Input' input_param { shape { dim: 3 } }", {}, "undeclared"},
  };
}

vector<Case> AllCases() {
  vector<Case> all;
  for (const auto& cases : {ElementwiseCases(), NeuronCases(), ImageCases(),
                            MovingCases(), SequenceCases(), EndCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

class BackwardReadsTest : public testing::TestWithParam<Case> {
 protected:
  template <typename Dtype>
  static void Check() {
    const LayerRun<Dtype> plain(GetParam(), /*spoil=*/false);
    EXPECT_EQ(GetParam().reads, plain.reads());
    const LayerRun<Dtype> spoiled(GetParam(), /*spoil=*/true);
    ASSERT_EQ(plain.results().size(), spoiled.results().size());
    for (size_t i = 0; i < plain.results().size(); ++i) {
      const vector<Dtype>& expected = plain.results()[i];
      EXPECT_THAT(expected, testing::Each(testing::ResultOf(
                                [](Dtype v) { return std::isfinite(v); },
                                testing::IsTrue())));
      EXPECT_EQ(expected, spoiled.results()[i]) << "result " << i;
    }
  }
};

TEST_P(BackwardReadsTest, AreAllThatBackwardReads) {
  for (const cpu::Kernels kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    Check<float>();
    Check<double>();
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, BackwardReadsTest,
                         testing::ValuesIn(AllCases()), [](const auto& test) {
                           return Parse(test.param.prototxt).type() +
                                  std::to_string(test.index);
                         });

TEST(BackwardReadsOfLayersTest, EveryTypeOfLayerIsHere) {
  std::set<string> proved;
  for (const Case& test : AllCases())
    proved.insert(Parse(test.prototxt).type());
  // Fed by files or by programs, or writing files; they read no blob again.
  const std::set<string> others = {"Data",      "HDF5Data",   "HDF5Output",
                                   "ImageData", "MemoryData", "WindowData"};
  for (const string& type : LayerRegistry<float>::LayerTypeList()) {
    if (proved.count(type) > 0) continue;
    EXPECT_EQ(1, others.count(type)) << type << " has no case here";
    LayerParameter param;
    param.set_type(type);
    const auto layer = LayerRegistry<float>::CreateLayer(param);
    EXPECT_EQ("NN/NN", Describe(layer->backward_reads(), 2, 2)) << type;
  }
}

// As users write them who have never heard of backward_reads.
class SilentAboutReadsLayer : public Layer<float> {
 public:
  using Layer<float>::Layer;
  void Reshape(const vector<Blob<float>*>& /*bottom*/,
               const vector<Blob<float>*>& /*top*/) override {}

 protected:
  void Forward_cpu(const vector<Blob<float>*>& /*bottom*/,
                   const vector<Blob<float>*>& /*top*/) override {}
  void Backward_cpu(const vector<Blob<float>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<float>*>& /*bottom*/) override {}
};

TEST(BackwardReadsOfLayersTest, LayersThatSayNothingReadEverything) {
  const SilentAboutReadsLayer layer{LayerParameter()};
  const BackwardReads reads = layer.backward_reads();
  EXPECT_FALSE(reads.is_declared);
  for (const size_t i : {0, 1, 5}) {
    EXPECT_EQ(BackwardRead::kExact, reads.OfBottom(i));
    EXPECT_EQ(BackwardRead::kExact, reads.OfTop(i));
  }
  EXPECT_TRUE(reads.buffers.empty());
}

TEST(BackwardReadsOfLayersTest, BatchNormAndScaleInPlaceReadOneCopy) {
  Blob<float> blob(kImages);
  FillerParameter normal;
  GaussianFiller<float>(normal).Fill(&blob);
  vector<BackwardReads::Buffer> buffers;
  for (const char* const type : {"BatchNorm", "Scale"}) {
    LayerParameter param;
    param.set_type(type);
    const auto layer = LayerRegistry<float>::CreateLayer(param);
    layer->SetUp({&blob}, {&blob});
    layer->Forward({&blob}, {&blob});
    ASSERT_EQ(1, layer->backward_reads().buffers.size());
    buffers.push_back(layer->backward_reads().buffers[0]);
  }
  EXPECT_EQ(buffers[0].memory, buffers[1].memory);
}

}  // namespace

}  // namespace caffe
