#include "caffe/backward_reads.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <set>

#include "caffe/filler.hpp"
#include "caffe/layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "cpu/engine.hpp"

// Proves what layers say of their Backward: whatever they do not read is
// overwritten between Forward and Backward, and whatever they promise to write
// before, and the gradients must stay the same, bit for bit.

namespace caffe {

namespace {

struct Case {
  string prototxt;
  // The shapes of the bottoms.
  vector<vector<int>> bottoms;
  // What the layer must declare, as Describe puts it.
  string reads;
  int tops = 1;
  // Whether the first top is the first bottom.
  bool in_place = false;
  // The bottoms that have labels, which get no gradient.
  vector<int> labels = {};
  // Whether the other bottoms get gradients.
  bool propagates = true;
  // The parameters that do not learn.
  vector<int> frozen = {};
};

void PrintTo(const Case& test, std::ostream* stream) {
  *stream << test.prototxt;
}

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

// "VE/N copy:V": the values of bottom 0, bottom 1 exactly, nothing of the top,
// and the values of a buffer.
string Describe(const BackwardReads& reads, size_t bottoms, size_t tops) {
  if (!reads.is_declared) return "undeclared";
  const auto letter = [](BackwardRead read) {
    return "NZSVE"[static_cast<int>(read)];
  };
  string text;
  for (size_t i = 0; i < bottoms; ++i) text += letter(reads.OfBottom(i));
  text += '/';
  for (size_t i = 0; i < tops; ++i) text += letter(reads.OfTop(i));
  for (const BackwardReads::Buffer& buffer : reads.buffers) {
    text += " " + buffer.name + ":" + letter(buffer.read);
  }
  return text;
}

LayerParameter Parse(const string& prototxt) {
  LayerParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(prototxt, &param))
      << prototxt;
  return param;
}

// One layer with its blobs, taken through Forward and Backward.
template <typename Dtype>
class LayerRun {
 public:
  // With `spoil`, overwrites all that the layer's promises allow to.
  LayerRun(const Case& test, bool spoil) {
    Caffe::set_random_seed(1701);
    MakeBlobs(test);
    layer_ = LayerRegistry<Dtype>::CreateLayer(Parse(test.prototxt));
    layer_->SetUp(bottoms_, tops_);
    for (const auto& param : layer_->blobs()) {
      caffe_rng_uniform(param->count(), Dtype(0.5), Dtype(1.5),
                        param->mutable_cpu_data());
    }
    for (const int i : test.frozen) layer_->set_param_propagate_down(i, false);
    const bool may_spoil = spoil && layer_->backward_reads().is_declared;
    if (may_spoil) SpoilTops();
    layer_->Forward(bottoms_, tops_);
    reads_ = layer_->backward_reads();
    for (const Blob<Dtype>* top : tops_) Keep(top->count(), top->cpu_data());
    for (Blob<Dtype>* top : tops_) FillNormal(top, top->mutable_cpu_diff());
    if (may_spoil) SpoilData();
    if (may_spoil) SpoilDiffs();
    layer_->Backward(tops_, propagate_down_, bottoms_);
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      if (!propagate_down_[i]) continue;
      Keep(bottoms_[i]->count(), bottoms_[i]->cpu_diff());
    }
    for (const auto& param : layer_->blobs()) {
      Keep(param->count(), param->cpu_diff());
    }
  }

  string reads() const {
    return Describe(reads_, bottoms_.size(), tops_.size());
  }
  // The values of tops, then the gradients of bottoms and of parameters.
  const vector<vector<Dtype>>& results() const { return results_; }

 private:
  static constexpr Dtype kNaN = std::numeric_limits<Dtype>::quiet_NaN();

  static void FillNormal(Blob<Dtype>* shape, Dtype* values) {
    caffe_rng_gaussian(shape->count(), Dtype(0), Dtype(1), values);
  }

  void MakeBlobs(const Case& test) {
    for (const vector<int>& shape : test.bottoms) {
      bottoms_.push_back(NewBlob());
      bottoms_.back()->Reshape(shape);
      FillNormal(bottoms_.back(), bottoms_.back()->mutable_cpu_data());
    }
    propagate_down_.assign(bottoms_.size(), test.propagates);
    for (const int k : test.labels) {
      propagate_down_[k] = false;
      Dtype* const labels = bottoms_[k]->mutable_cpu_data();
      for (int i = 0; i < bottoms_[k]->count(); ++i) labels[i] = i % 3;
    }
    for (int i = 0; i < test.tops; ++i) {
      tops_.push_back(i == 0 && test.in_place ? bottoms_[0] : NewBlob());
    }
  }

  Blob<Dtype>* NewBlob() {
    blobs_.push_back(std::make_unique<Blob<Dtype>>());
    return blobs_.back().get();
  }

  void Keep(int count, const Dtype* values) {
    results_.emplace_back(values, values + count);
  }

  // Before Forward: it must write them all.
  void SpoilTops() {
    std::set<const SyncedMemory*> inputs;
    for (const Blob<Dtype>* bottom : bottoms_) {
      inputs.insert(bottom->data().get());
    }
    for (Blob<Dtype>* top : tops_) {
      if (inputs.count(top->data().get()) > 0) continue;
      caffe_set(top->count(), kNaN, top->mutable_cpu_data());
    }
  }

  // After Forward: what remains of memory is what its keenest reader asks for.
  void SpoilData() {
    std::map<SyncedMemory*, BackwardRead> readers;
    const auto add = [&](SyncedMemory* memory, BackwardRead read) {
      BackwardRead& keenest = readers[memory];
      keenest = std::max(keenest, read);
    };
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      add(bottoms_[i]->data().get(), reads_.OfBottom(i));
    }
    for (size_t i = 0; i < tops_.size(); ++i) {
      add(tops_[i]->data().get(), reads_.OfTop(i));
    }
    for (const BackwardReads::Buffer& buffer : reads_.buffers) {
      add(buffer.memory.get(), buffer.read);
    }
    for (const auto& [memory, read] : readers) Reduce(read, memory);
  }

  static void Reduce(BackwardRead read, SyncedMemory* memory) {
    const int count = static_cast<int>(memory->size() / sizeof(Dtype));
    auto* const values = static_cast<Dtype*>(memory->mutable_cpu_data());
    if (read == BackwardRead::kNothing) caffe_set(count, kNaN, values);
    for (int i = 0; i < count; ++i) {
      if (read == BackwardRead::kNonZero && values[i] != 0) {
        values[i] = i % 2 == 0 ? -1 : 7;
      } else if (read == BackwardRead::kSign) {
        values[i] = values[i] > 0 ? 7 : 0;
      }
    }
  }

  // Before Backward: it must write them all.
  void SpoilDiffs() {
    std::set<const SyncedMemory*> inputs;
    for (const Blob<Dtype>* top : tops_) inputs.insert(top->diff().get());
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      if (inputs.count(bottoms_[i]->diff().get()) > 0) continue;
      caffe_set(bottoms_[i]->count(), kNaN, bottoms_[i]->mutable_cpu_diff());
    }
  }

  vector<std::unique_ptr<Blob<Dtype>>> blobs_;
  vector<Blob<Dtype>*> bottoms_;
  vector<Blob<Dtype>*> tops_;
  vector<bool> propagate_down_;
  shared_ptr<Layer<Dtype>> layer_;
  BackwardReads reads_;
  vector<vector<Dtype>> results_;
};

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
