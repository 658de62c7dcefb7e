#include "caffe/layers/lstm_layer.hpp"

#include "recurrent_test_util.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class LSTMLayerTest : public RecurrentLayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;
  using Rows = vector<vector<double>>;
  static constexpr int kD = RecurrentLayerTest<TypeParam>::kOutputs;

  // The state of every stream.
  struct State {
    Rows h = Rows(RecurrentLayerTest<TypeParam>::kStreams, vector<double>(kD));
    Rows c = h;
  };

  // Adds the states to the bottoms and tops.
  void ExposeStates() {
    this->FillNormal({1, 2, 2}, &h_0_);
    this->FillNormal({1, 2, 2}, &c_0_);
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &h_0_, &c_0_};
    this->tops_ = {&this->top_, &h_T_, &c_T_};
  }

  // Goes through all steps from the equations, and returns the hidden values.
  vector<double> Reference(Layer<Dtype>* layer, State* state) {
    const bool has_static = this->bottoms_.size() == 3;
    const auto& blobs = layer->blobs();
    const vector<double> w_x = this->AllOf(*blobs[0]);
    const vector<double> b = this->AllOf(*blobs[1]);
    const vector<double> w_s =
        has_static ? this->AllOf(*blobs[2]) : vector<double>();
    const vector<double> w_h = this->AllOf(*blobs[has_static ? 3 : 2]);
    vector<double> outputs;
    for (int t = 0; t < this->kSteps; ++t) {
      for (int n = 0; n < this->kStreams; ++n) {
        const int row = t * this->kStreams + n;
        const double cont = this->bottom_b_.cpu_data()[row];
        vector<double> h = state->h[n];
        for (double& value : h) value *= cont;
        vector<double> gates(4 * kD);
        for (int g = 0; g < 4 * kD; ++g) {
          gates[g] = b[g] + PlainProduct(w_h, g, h) +
                     PlainProduct(w_x, g, this->Row(this->bottom_, row, 4));
          if (has_static) {
            gates[g] += PlainProduct(w_s, g, this->Row(this->bottom_c_, n, 3));
          }
        }
        for (int d = 0; d < kD; ++d) {
          double& c = state->c[n][d];
          c = cont * PlainSigmoid(gates[kD + d]) * c +
              PlainSigmoid(gates[d]) * std::tanh(gates[3 * kD + d]);
          state->h[n][d] = PlainSigmoid(gates[2 * kD + d]) * std::tanh(c);
          outputs.push_back(state->h[n][d]);
        }
      }
    }
    return outputs;
  }

  Blob<Dtype> h_0_;
  Blob<Dtype> c_0_;
  Blob<Dtype> h_T_;
  Blob<Dtype> c_T_;
};

TYPED_TEST_SUITE(LSTMLayerTest, TestDtypesAndDevices);

TYPED_TEST(LSTMLayerTest, ShapesAndOrderOfParametersAreCaffes) {
  const auto layer = this->SetUp(this->Settings("LSTM"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(3, 2, 2));
  EXPECT_THAT(
      this->ParameterShapes(layer.get()),
      ElementsAre(ElementsAre(8, 4), ElementsAre(8), ElementsAre(8, 2)));
  this->AddStaticInput();
  EXPECT_THAT(this->ParameterShapes(this->SetUp(this->Settings("LSTM")).get()),
              ElementsAre(ElementsAre(8, 4), ElementsAre(8), ElementsAre(8, 3),
                          ElementsAre(8, 2)));
}

TYPED_TEST(LSTMLayerTest, ForwardIsThatOfTheEquations) {
  for (const bool has_static : {false, true}) {
    if (has_static) this->AddStaticInput();
    const auto layer = this->Forward(this->Settings("LSTM"));
    typename TestFixture::State state;
    EXPECT_THAT(this->DataOf(this->top_),
                this->IsNear(this->Reference(layer.get(), &state)));
  }
}

TYPED_TEST(LSTMLayerTest, StatesGoFromBatchToBatch) {
  const auto layer = this->SetUp(this->Settings("LSTM"));
  this->FillValues({3, 2}, {1, 0.5, 1, 1, 1, 1}, &this->bottom_b_);
  typename TestFixture::State state;
  for (int batch = 0; batch < 3; ++batch) {
    this->FillNormal({3, 2, 4}, &this->bottom_);
    layer->Forward(this->bottoms_, this->tops_);
    EXPECT_THAT(this->DataOf(this->top_),
                this->IsNear(this->Reference(layer.get(), &state)));
  }
  static_cast<RecurrentLayer<typename TypeParam::Dtype>*>(layer.get())->Reset();
  state = {};
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear(this->Reference(layer.get(), &state)));
}

TYPED_TEST(LSTMLayerTest, SavedStatesGoOnWhereTheyWere) {
  caffe_set(6, typename TypeParam::Dtype(1),
            this->bottom_b_.mutable_cpu_data());
  const auto layer = this->Forward(this->Settings("LSTM"));
  const string saved = layer->SaveState();
  layer->Forward(this->bottoms_, this->tops_);
  const auto second = this->DataOf(this->top_);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_NE(second, this->DataOf(this->top_));
  layer->RestoreState(saved);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_EQ(second, this->DataOf(this->top_));
  EXPECT_THAT(ErrorOf([&] { layer->RestoreState("x"); }),
              HasSubstr("not those of this layer"));
}

TYPED_TEST(LSTMLayerTest, ExposedStates) {
  typedef typename TypeParam::Dtype Dtype;
  this->ExposeStates();
  caffe_set(6, Dtype(1), this->bottom_b_.mutable_cpu_data());
  const auto layer =
      this->Forward(this->Settings("LSTM", "expose_hidden: true"));
  EXPECT_THAT(this->h_T_.shape(), ElementsAre(1, 2, 2));
  this->bottoms_.resize(2);
  typename TestFixture::State state;
  for (int n = 0; n < 2; ++n) {
    state.h[n] = this->Row(this->h_0_, n, 2);
    state.c[n] = this->Row(this->c_0_, n, 2);
  }
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear(this->Reference(layer.get(), &state)));
  for (int n = 0; n < 2; ++n) {
    EXPECT_THAT(this->Row(this->h_T_, n, 2), this->IsNear(state.h[n]));
    EXPECT_THAT(this->Row(this->c_T_, n, 2), this->IsNear(state.c[n]));
  }
}

TYPED_TEST(LSTMLayerTest, OneStep) {
  this->FillNormal({1, 2, 4}, &this->bottom_);
  this->FillValues({1, 2}, {1, 1}, &this->bottom_b_);
  const auto layer = this->Forward(this->Settings("LSTM"));
  const auto first = this->DataOf(this->top_);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_NE(first, this->DataOf(this->top_));
}

TYPED_TEST(LSTMLayerTest, NumberOfStreamsMayChange) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Forward(this->Settings("LSTM"));
  const vector<double> expected = this->Row(this->top_, 0, 2);
  // Two more, which are the same again.
  const vector<Dtype> inputs = this->DataOf(this->bottom_);
  this->bottom_.Reshape({3, 4, 2, 2});
  this->bottom_b_.Reshape({3, 4});
  caffe_set(12, Dtype(0), this->bottom_b_.mutable_cpu_data());
  Dtype* const data = this->bottom_.mutable_cpu_data();
  for (int i = 0; i < 48; ++i) data[i] = inputs[i % 8];
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->top_.shape(), ElementsAre(3, 4, 2));
  for (const int stream : {0, 2}) {
    EXPECT_THAT(this->Row(this->top_, stream, 2), this->IsNear(expected));
  }
}

TYPED_TEST(LSTMLayerTest, Gradient) {
  this->CheckGradients(this->Settings("LSTM"), 1e-2, 1e-3, 0);
  this->CheckGradients(this->Settings("LSTM"), 1e-2, 1e-3, -2);
  this->AddStaticInput();
  this->CheckGradients(this->Settings("LSTM"), 1e-2, 1e-3, 0);
  this->CheckGradients(this->Settings("LSTM"), 1e-2, 1e-3, 2);
}

TYPED_TEST(LSTMLayerTest, GradientOfExposedStates) {
  this->ExposeStates();
  this->FillValues({3, 2}, {1, 0, 1, 1, 1, 1}, &this->bottom_b_);
  for (const int bottom : {-2, 0, 2, 3}) {
    this->CheckGradients(this->Settings("LSTM", "expose_hidden: true"), 1e-2,
                         1e-3, bottom);
  }
}

TYPED_TEST(LSTMLayerTest, LeavesOutGradientsThatNobodyWants) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->SetUp(this->Settings("LSTM"));
  layer->set_param_propagate_down(2, false);
  layer->Forward(this->bottoms_, this->tops_);
  for (const auto& blob : layer->blobs()) {
    caffe_set(blob->count(), Dtype(0), blob->mutable_cpu_diff());
  }
  caffe_set(this->bottom_.count(), Dtype(9), this->bottom_.mutable_cpu_diff());
  this->FillDiff(&this->top_);
  layer->Backward(this->tops_, {false, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), testing::Each(9));
  EXPECT_GT(layer->blobs()[0]->asum_diff(), 0);
  EXPECT_EQ(0, layer->blobs()[2]->asum_diff());
  layer->Backward(this->tops_, {true, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), testing::Not(testing::Contains(9)));
}

TYPED_TEST(LSTMLayerTest, TakesTheParametersItComesWith) {
  const auto layer = this->Forward(this->Settings("LSTM"));
  const auto expected = this->DataOf(this->top_);
  LayerParameter param;
  layer->ToProto(&param);
  const auto same =
      LayerRegistry<typename TypeParam::Dtype>::CreateLayer(param);
  same->SetUp(this->bottoms_, this->tops_);
  same->Forward(this->bottoms_, this->tops_);
  EXPECT_EQ(expected, this->DataOf(this->top_));
  param.mutable_blobs()->RemoveLast();
  const auto set_up = [&] {
    LayerRegistry<typename TypeParam::Dtype>::CreateLayer(param)->SetUp(
        this->bottoms_, this->tops_);
  };
  EXPECT_THAT(ErrorOf(set_up), HasSubstr("takes 3 parameter blob(s), not 2"));
  *param.add_blobs() = param.blobs(1);
  EXPECT_THAT(ErrorOf(set_up),
              HasSubstr("its parameter 2 must have the shape 8 2 (16), not 8"));
}

TYPED_TEST(LSTMLayerTest, Refuses) {
  const string lstm = this->Settings("LSTM");
  EXPECT_THAT(this->SetUpError("type: 'LSTM'"),
              HasSubstr("num_output must be from 1"));
  EXPECT_THAT(this->SetUpError("type: 'LSTM' recurrent_param { num_output: "
                               "4294967295 }"),
              HasSubstr("not 4294967295"));
  const auto layer = this->Forward(lstm);
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  this->bottom_.Reshape({2, 2, 4});
  this->bottom_b_.Reshape({2, 2});
  EXPECT_THAT(ErrorOf([&] { layer->Reshape(this->bottoms_, this->tops_); }),
              HasSubstr("was set up for 3 time steps"));
  this->bottom_b_.Reshape({2, 3});
  EXPECT_THAT(this->SetUpError(lstm), HasSubstr("needs 2 x 2 indicators"));
  this->bottom_.Reshape(vector<int>{2});
  EXPECT_THAT(this->SetUpError(lstm), HasSubstr("at least 2 axes"));
  this->bottom_.Reshape({0, 2, 4});
  EXPECT_THAT(this->SetUpError(lstm), HasSubstr("at least one time step"));
  this->bottom_.Reshape({2, 3, 4});
  this->AddStaticInput();
  EXPECT_THAT(this->SetUpError(lstm),
              HasSubstr("a static input for each of the 3 streams"));
  EXPECT_THAT(this->SetUpError(this->Settings("LSTM", "expose_hidden: true")),
              HasSubstr("at least 4 bottom"));
  this->bottoms_.push_back(&this->bottom_c_);
  this->bottom_c_.Reshape({1, 3, 5});
  this->tops_ = {&this->top_, &this->top_b_, &this->top_b_};
  EXPECT_THAT(this->SetUpError(this->Settings("LSTM", "expose_hidden: true")),
              HasSubstr("needs a state of shape 1 3 2 (6), not 1 3 5 (15)"));
}

template <typename TypeParam>
class LSTMUnitLayerTest : public LayerTest<TypeParam> {
 protected:
  LSTMUnitLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    this->tops_.push_back(&this->top_b_);
    this->FillNormal({1, 3, 2}, &this->bottom_);
    this->FillNormal({1, 3, 8}, &this->bottom_b_);
    this->FillValues({1, 3}, {1, 0, 0.5}, &this->bottom_c_);
  }
};

TYPED_TEST_SUITE(LSTMUnitLayerTest, TestDtypesAndDevices);

TYPED_TEST(LSTMUnitLayerTest, ByHand) {
  this->FillValues({1, 1, 1}, {2}, &this->bottom_);
  // Gates of 3/4, 1/2 and 2/3, and a candidate of 3/5.
  this->FillValues({1, 1, 4}, {std::log(3), 0, std::log(2), std::log(2)},
                   &this->bottom_b_);
  this->FillValues({1, 1}, {1}, &this->bottom_c_);
  this->Forward("type: 'LSTMUnit'");
  EXPECT_THAT(this->DataOf(this->top_), this->IsNear({1.45}));
  EXPECT_THAT(this->DataOf(this->top_b_),
              this->IsNear({2. / 3 * std::tanh(1.45)}));
  // Where a sequence begins nobody looks at what was before.
  this->bottom_c_.mutable_cpu_data()[0] = 0;
  this->bottom_.mutable_cpu_data()[0] = NAN;
  this->Forward("type: 'LSTMUnit'");
  EXPECT_THAT(this->DataOf(this->top_), this->IsNear({0.45}));
}

TYPED_TEST(LSTMUnitLayerTest, Gradient) {
  for (const int bottom : {0, 1}) {
    this->CheckGradients("type: 'LSTMUnit'", 1e-2, 1e-3, bottom);
  }
}

TYPED_TEST(LSTMUnitLayerTest, Refuses) {
  const auto error = [this] { return this->SetUpError("type: 'LSTMUnit'"); };
  const auto layer = this->Forward("type: 'LSTMUnit'");
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  this->bottom_c_.Reshape({3, 1});
  EXPECT_THAT(error(), HasSubstr("one indicator for each of its 3 streams"));
  this->bottom_b_.Reshape({1, 3, 6});
  EXPECT_THAT(error(), HasSubstr("four gates for each of its cells"));
  this->bottom_.Reshape({2, 3, 2});
  EXPECT_THAT(error(), HasSubstr("cells of shape (1, streams, cells)"));
  this->tops_[1] = &this->bottom_;
  EXPECT_THAT(error(), HasSubstr("in place"));
}

}  // namespace caffe
