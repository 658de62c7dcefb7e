#include "caffe/layers/scale_layer.hpp"

#include <array>

#include "layer_test.hpp"

namespace caffe {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class ScaleLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  ScaleLayerTest() { this->FillNormal({2, 3, 2, 2}, &this->bottom_); }

  // Compares the top with factors and offsets (if any) that have the axes
  // [axis, axis + their number) of the bottom.
  void ExpectScaled(int axis, const Blob<Dtype>& factors,
                    const Blob<Dtype>* offsets) {
    ASSERT_EQ(this->bottom_.shape(), this->top_.shape());
    const int inner = this->bottom_.count(axis + factors.num_axes());
    for (int i = 0; i < this->bottom_.count(); ++i) {
      const int c = i / inner % factors.count();
      const Dtype offset = offsets == nullptr ? 0 : offsets->cpu_data()[c];
      ASSERT_NEAR(this->bottom_.cpu_data()[i] * factors.cpu_data()[c] + offset,
                  this->top_.cpu_data()[i], 1e-5);
    }
  }
};

TYPED_TEST_SUITE(ScaleLayerTest, TestDtypesAndDevices);

TYPED_TEST(ScaleLayerTest, StartsAsTheIdentity) {
  auto layer = this->Forward("type: 'Scale'");
  ASSERT_EQ(1u, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[0]->shape(), ElementsAre(3));
  EXPECT_EQ(this->DataOf(this->bottom_), this->DataOf(this->top_));
  layer = this->Forward("type: 'Scale' scale_param { bias_term: true }");
  ASSERT_EQ(2u, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[1]->shape(), ElementsAre(3));
  EXPECT_EQ(this->DataOf(this->bottom_), this->DataOf(this->top_));
  // A filler without a value asks for zeros.
  this->Forward("type: 'Scale' scale_param { filler { type: 'constant' } }");
  EXPECT_THAT(this->DataOf(this->top_), Each(0));
}

TYPED_TEST(ScaleLayerTest, ParametersOnAnyAxes) {
  const string fillers =
      "filler { type: 'gaussian' std: 1 } bias_filler { type: 'gaussian' "
      "std: 1 } ";
  struct Case {
    const char* settings;
    int axis;
    vector<int> shape;
  };
  for (const Case& test :
       {Case{"", 1, {3}}, Case{"axis: 0", 0, {2}}, Case{"axis: -1", 3, {2}},
        Case{"num_axes: 2", 1, {3, 2}}, Case{"num_axes: -1", 1, {3, 2, 2}},
        Case{"axis: 0 num_axes: -1", 0, {2, 3, 2, 2}},
        Case{"axis: 2 num_axes: 0", 2, {}}}) {
    for (const bool bias : {false, true}) {
      const auto layer =
          this->Forward("type: 'Scale' scale_param { " + fillers +
                        test.settings + (bias ? " bias_term: true }" : " }"));
      ASSERT_EQ(test.shape, layer->blobs()[0]->shape());
      // A single number has no place among the axes.
      this->ExpectScaled(test.shape.empty() ? 0 : test.axis, *layer->blobs()[0],
                         bias ? layer->blobs()[1].get() : nullptr);
    }
  }
}

TYPED_TEST(ScaleLayerTest, ASecondBottomIsTheScale) {
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({3, 2}, &this->bottom_b_);
  auto layer = this->Forward("type: 'Scale'");
  EXPECT_TRUE(layer->blobs().empty());
  this->ExpectScaled(1, this->bottom_b_, nullptr);
  layer = this->Forward(
      "type: 'Scale' scale_param { bias_term: true "
      "bias_filler { type: 'gaussian' std: 1 } }");
  ASSERT_EQ(1u, layer->blobs().size());
  EXPECT_THAT(layer->blobs()[0]->shape(), ElementsAre(3, 2));
  this->ExpectScaled(1, this->bottom_b_, layer->blobs()[0].get());
  this->FillNormal({}, &this->bottom_b_);
  this->Forward("type: 'Scale' scale_param { axis: 3 }");
  this->ExpectScaled(0, this->bottom_b_, nullptr);
}

TYPED_TEST(ScaleLayerTest, ParameterGradientsAddUpBottomOnesDoNot) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillValues({2, 1, 2}, {1, 2, 3, 4}, &this->bottom_);
  auto layer = this->Forward("type: 'Scale' scale_param { bias_term: true }");
  std::copy_n(std::array<Dtype, 4>{5, 6, 7, 8}.data(), 4,
              this->top_.mutable_cpu_diff());
  for (int times = 1; times <= 2; ++times) {
    this->Backward(layer.get());
    EXPECT_EQ(70 * times, layer->blobs()[0]->cpu_diff()[0]);
    EXPECT_EQ(26 * times, layer->blobs()[1]->cpu_diff()[0]);
  }
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(5, 6, 7, 8));
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillValues({1}, {3}, &this->bottom_b_);
  layer = this->Forward("type: 'Scale'");
  for (int times = 1; times <= 2; ++times) {
    this->Backward(layer.get());
    EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(70));
    EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(15, 18, 21, 24));
  }
}

TYPED_TEST(ScaleLayerTest, InPlace) {
  const string fillers =
      "filler { type: 'gaussian' std: 1 } bias_filler { type: 'gaussian' "
      "std: 1 } ";
  this->ExpectSameInPlace("type: 'Scale' scale_param { " + fillers + "}");
  this->ExpectSameInPlace("type: 'Scale' scale_param { bias_term: true " +
                          fillers + "}");
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({3, 2}, &this->bottom_b_);
  this->ExpectSameInPlace("type: 'Scale'");
}

// BatchNorm in place already keeps the values that Scale in place must keep;
// with something in between that writes, they are others.
TYPED_TEST(ScaleLayerTest, SharesTheCopyOfABatchNormBeforeIt) {
  typedef typename TypeParam::Dtype Dtype;
  Blob<Dtype> values;
  values.CopyFrom(this->bottom_, false, true);
  for (const vector<string>& types :
       {vector<string>{"BatchNorm", "Scale"},
        vector<string>{"BatchNorm", "ReLU", "Scale"}}) {
    vector<vector<Dtype>> results[2];
    for (const bool in_place : {false, true}) {
      vector<shared_ptr<Blob<Dtype>>> blobs = {
          boost::make_shared<Blob<Dtype>>()};
      blobs[0]->CopyFrom(values, false, true);
      vector<shared_ptr<Layer<Dtype>>> layers;
      for (const string& type : types) {
        layers.push_back(this->Make("type: '" + type + "'"));
        blobs.push_back(in_place ? blobs[0]
                                 : boost::make_shared<Blob<Dtype>>());
        const vector<Blob<Dtype>*> bottom = {blobs[layers.size() - 1].get()};
        const vector<Blob<Dtype>*> top = {blobs[layers.size()].get()};
        layers.back()->SetUp(bottom, top);
        layers.back()->Forward(bottom, top);
      }
      results[in_place].push_back(this->DataOf(*blobs.back()));
      for (int i = 0; i < values.count(); ++i) {
        blobs.back()->mutable_cpu_diff()[i] = i * 5 % 7;
      }
      for (size_t i = types.size(); i-- > 0;) {
        layers[i]->Backward({blobs[i + 1].get()}, {true}, {blobs[i].get()});
      }
      results[in_place].push_back(this->DiffOf(*blobs[0]));
      results[in_place].push_back(this->DiffOf(*layers.back()->blobs()[0]));
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_THAT(results[1][i],
                  testing::Pointwise(testing::DoubleNear(1e-4), results[0][i]))
          << "result " << i << " with " << types.size() << " layers";
    }
  }
}

TYPED_TEST(ScaleLayerTest, LeavesOutGradientsNobodyWants) {
  typedef typename TypeParam::Dtype Dtype;
  for (Blob<Dtype>* top : {&this->top_, &this->bottom_}) {
    this->tops_[0] = top;
    const auto layer =
        this->SetUp("type: 'Scale' scale_param { bias_term: true }");
    layer->set_param_propagate_down(0, false);
    layer->set_param_propagate_down(1, false);
    layer->Forward(this->bottoms_, this->tops_);
    caffe_set(24, Dtype(1), top->mutable_cpu_diff());
    layer->Backward(this->tops_, {false}, this->bottoms_);
    EXPECT_EQ(0, layer->blobs()[0]->asum_diff());
    EXPECT_EQ(0, layer->blobs()[1]->asum_diff());
  }
}

TYPED_TEST(ScaleLayerTest, Gradient) {
  const string fillers =
      "filler { type: 'gaussian' std: 1 } bias_filler { type: 'gaussian' "
      "std: 1 } ";
  for (const char* settings :
       {"bias_term: true", "axis: 0 num_axes: -1", "axis: 3 bias_term: true",
        "num_axes: 0 bias_term: true"}) {
    this->CheckGradients(
        "type: 'Scale' scale_param { " + fillers + settings + " }", 1e-2, 1e-3);
  }
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({3, 2}, &this->bottom_b_);
  this->CheckGradients("type: 'Scale' scale_param { bias_term: true }", 1e-2,
                       1e-3);
}

TYPED_TEST(ScaleLayerTest, FastKernelsAgreeWithTheReference) {
  typedef typename TypeParam::Dtype Dtype;
  for (const vector<int>& shape : {vector<int>{1, 1},
                                   {64, 300},
                                   {3, 130, 7, 7},
                                   {2, 5, 33, 65},
                                   {4, 6, 224, 224}}) {
    vector<vector<Dtype>> results[2];
    for (const auto kernels :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(kernels);
      Caffe::set_random_seed(7);
      this->FillNormal(shape, &this->bottom_);
      this->tops_[0] = &this->bottom_;
      const auto layer =
          this->Forward("type: 'Scale' scale_param { bias_term: true }");
      for (int i = 0; i < this->bottom_.count(); ++i) {
        this->bottom_.mutable_cpu_diff()[i] = Dtype(i * 7 % 101) / 101;
      }
      this->Backward(layer.get());
      results[static_cast<int>(kernels)] = {this->DiffOf(*layer->blobs()[0]),
                                            this->DiffOf(*layer->blobs()[1])};
    }
    for (size_t i = 0; i < 2; ++i) {
      for (size_t k = 0; k < results[0][i].size(); ++k) {
        const double expected = results[1][i][k];
        ASSERT_NEAR(expected, results[0][i][k],
                    1e-5 * std::max(100., std::abs(expected)))
            << this->bottom_.shape_string();
      }
    }
  }
}

TYPED_TEST(ScaleLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'Scale' scale_param { " + settings + " }");
  };
  EXPECT_THAT(error("axis: 4"), HasSubstr("axis 4 is out of range"));
  EXPECT_THAT(error("num_axes: -2"), HasSubstr("num_axes"));
  EXPECT_THAT(error("num_axes: 4"), HasSubstr("at most 3"));
  EXPECT_THAT(error("num_axes: 2147483647"), HasSubstr("at most 3"));
  EXPECT_THAT(
      this->SetUpError("type: 'Scale' blobs { shape { dim: 3 } data: 1 data: 1 "
                       "data: 1 } scale_param { bias_term: true }"),
      HasSubstr("takes 2 parameter blob(s), not 1"));
  EXPECT_THAT(this->SetUpError(
                  "type: 'Scale' blobs { shape { dim: 2 } data: 1 data: 1 }"),
              HasSubstr("a blob of shape 2 (2) does not fit"));
  EXPECT_THAT(
      this->SetUpError("type: 'Scale' blobs { shape { dim: 3 } data: 1 data: 1 "
                       "data: 1 } blobs { shape { dim: 1 } data: 1 } "
                       "scale_param { bias_term: true }"),
      HasSubstr("its bias has the shape 1 (1)"));
  this->bottoms_.push_back(&this->bottom_b_);
  this->FillNormal({2, 2}, &this->bottom_b_);
  EXPECT_THAT(error(""), HasSubstr("does not fit"));
  this->FillNormal({2, 2, 2}, &this->bottom_b_);
  EXPECT_THAT(error("axis: 3"), HasSubstr("does not fit"));
}

}  // namespace caffe
