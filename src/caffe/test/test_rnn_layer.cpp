#include "caffe/layers/rnn_layer.hpp"

#include "recurrent_test_util.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class RNNLayerTest : public RecurrentLayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;
  static constexpr int kD = RecurrentLayerTest<TypeParam>::kOutputs;

  // Goes through all steps from the equations, and returns the outputs; h has
  // the hidden values of every stream.
  vector<double> Reference(Layer<Dtype>* layer, vector<vector<double>>* h) {
    const bool has_static = this->bottoms_.size() == 3;
    vector<vector<double>> params;
    for (const auto& blob : layer->blobs()) {
      params.push_back(this->AllOf(*blob));
    }
    const auto recurrent = params.end() - 3;
    vector<double> outputs;
    for (int t = 0; t < this->kSteps; ++t) {
      for (int n = 0; n < this->kStreams; ++n) {
        const int row = t * this->kStreams + n;
        vector<double> before = (*h)[n];
        for (double& value : before) value *= this->bottom_b_.cpu_data()[row];
        for (int d = 0; d < kD; ++d) {
          double sum =
              params[1][d] + PlainProduct(recurrent[0], d, before) +
              PlainProduct(params[0], d, this->Row(this->bottom_, row, 4));
          if (has_static) {
            sum += PlainProduct(params[2], d, this->Row(this->bottom_c_, n, 3));
          }
          (*h)[n][d] = std::tanh(sum);
        }
        for (int d = 0; d < kD; ++d) {
          outputs.push_back(std::tanh(recurrent[2][d] +
                                      PlainProduct(recurrent[1], d, (*h)[n])));
        }
      }
    }
    return outputs;
  }
};

TYPED_TEST_SUITE(RNNLayerTest, TestDtypesAndDevices);

TYPED_TEST(RNNLayerTest, ShapesAndOrderOfParametersAreCaffes) {
  const auto layer = this->SetUp(this->Settings("RNN"));
  EXPECT_THAT(this->top_.shape(), ElementsAre(3, 2, 2));
  EXPECT_THAT(this->ParameterShapes(layer.get()),
              ElementsAre(ElementsAre(2, 4), ElementsAre(2), ElementsAre(2, 2),
                          ElementsAre(2, 2), ElementsAre(2)));
  this->AddStaticInput();
  EXPECT_THAT(
      this->ParameterShapes(this->SetUp(this->Settings("RNN")).get()),
      ElementsAre(ElementsAre(2, 4), ElementsAre(2), ElementsAre(2, 3),
                  ElementsAre(2, 2), ElementsAre(2, 2), ElementsAre(2)));
}

TYPED_TEST(RNNLayerTest, ForwardIsThatOfTheEquations) {
  for (const bool has_static : {false, true}) {
    if (has_static) this->AddStaticInput();
    const auto layer = this->SetUp(this->Settings("RNN"));
    vector<vector<double>> h(2, vector<double>(2));
    for (int batch = 0; batch < 2; ++batch) {
      layer->Forward(this->bottoms_, this->tops_);
      EXPECT_THAT(this->DataOf(this->top_),
                  this->IsNear(this->Reference(layer.get(), &h)));
      // The second batch goes on with the first.
      caffe_set(6, typename TypeParam::Dtype(1),
                this->bottom_b_.mutable_cpu_data());
    }
  }
}

TYPED_TEST(RNNLayerTest, Gradient) {
  this->AddStaticInput();
  for (const int bottom : {-2, 0, 2}) {
    this->CheckGradients(this->Settings("RNN"), 1e-2, 1e-3, bottom);
  }
}

TYPED_TEST(RNNLayerTest, ExposedStates) {
  typedef typename TypeParam::Dtype Dtype;
  Blob<Dtype> h_0, h_T;
  this->FillNormal({1, 2, 2}, &h_0);
  this->FillValues({3, 2}, {1, 0, 1, 1, 1, 1}, &this->bottom_b_);
  this->bottoms_ = {&this->bottom_, &this->bottom_b_, &h_0};
  this->tops_ = {&this->top_, &h_T};
  const string settings = this->Settings("RNN", "expose_hidden: true");
  const auto layer = this->Forward(settings);
  vector<vector<double>> h = {this->Row(h_0, 0, 2), this->Row(h_0, 1, 2)};
  this->bottoms_.resize(2);
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear(this->Reference(layer.get(), &h)));
  EXPECT_THAT(this->Row(h_T, 0, 2), this->IsNear(h[0]));
  EXPECT_THAT(this->Row(h_T, 1, 2), this->IsNear(h[1]));
  this->bottoms_.push_back(&h_0);
  for (const int bottom : {-2, 0, 2}) {
    this->CheckGradients(settings, 1e-2, 1e-3, bottom);
  }
}

TYPED_TEST(RNNLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'RNN'"),
              HasSubstr("num_output must be from 1"));
}

}  // namespace caffe
