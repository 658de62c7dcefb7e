#include "caffe/layers/eltwise_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSum[] = "type: 'Eltwise'";
constexpr char kWeighted[] =
    "type: 'Eltwise' eltwise_param { coeff: 2 coeff: -0.5 coeff: 1 }";
constexpr char kProduct[] = "type: 'Eltwise' eltwise_param { operation: PROD }";
constexpr char kUnstable[] =
    "type: 'Eltwise' eltwise_param { operation: PROD stable_prod_grad: false }";
constexpr char kMaximum[] = "type: 'Eltwise' eltwise_param { operation: MAX }";

template <typename TypeParam>
class EltwiseLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  EltwiseLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    for (Blob<Dtype>* bottom : this->bottoms_) {
      this->FillNormal({2, 3, 1, 2}, bottom);
    }
  }

  // Compares forward on three large blobs with `combine` of their values.
  template <typename Combine>
  void ExpectForward(const string& layer, const Combine& combine) {
    for (Blob<Dtype>* bottom : this->bottoms_) {
      this->FillNormal({3, 70001}, bottom);
    }
    this->Forward(layer);
    ASSERT_EQ(this->bottom_.shape(), this->top_.shape());
    for (int i = 0; i < this->top_.count(); ++i) {
      ASSERT_NEAR(
          combine(this->bottom_.cpu_data()[i], this->bottom_b_.cpu_data()[i],
                  this->bottom_c_.cpu_data()[i]),
          this->top_.cpu_data()[i], 1e-5);
    }
  }
};

TYPED_TEST_SUITE(EltwiseLayerTest, TestDtypesAndDevices);

TYPED_TEST(EltwiseLayerTest, Forward) {
  typedef typename TypeParam::Dtype Dtype;
  this->ExpectForward(kSum,
                      [](Dtype a, Dtype b, Dtype c) { return a + b + c; });
  this->ExpectForward(
      kWeighted, [](Dtype a, Dtype b, Dtype c) { return 2 * a - b / 2 + c; });
  this->ExpectForward(kProduct,
                      [](Dtype a, Dtype b, Dtype c) { return a * b * c; });
  this->ExpectForward(kMaximum, [](Dtype a, Dtype b, Dtype c) {
    return std::max(std::max(a, b), c);
  });
}

TYPED_TEST(EltwiseLayerTest, OfEqualMaximaTheSecondOfTwoGetsTheGradient) {
  typedef typename TypeParam::Dtype Dtype;
  this->bottoms_.pop_back();
  this->FillValues({3}, {1, 5, 2}, &this->bottom_);
  this->FillValues({3}, {1, 4, 3}, &this->bottom_b_);
  const auto layer = this->Forward(kMaximum);
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 5, 3));
  caffe_set(3, Dtype(7), this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(0, 7, 0));
  EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(7, 0, 7));
}

TYPED_TEST(EltwiseLayerTest, StableGradientsOfProductsWithZeros) {
  typedef typename TypeParam::Dtype Dtype;
  this->FillValues({2}, {0, 3}, &this->bottom_);
  this->FillValues({2}, {5, 2}, &this->bottom_b_);
  this->FillValues({2}, {2, 4}, &this->bottom_c_);
  const auto layer = this->Forward(kProduct);
  caffe_set(2, Dtype(1), this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(10, 8));
  EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(0, 12));
}

TYPED_TEST(EltwiseLayerTest, BackwardLeavesOutBottomsThatDoNotWantIt) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Forward(kSum);
  caffe_set(12, Dtype(1), this->top_.mutable_cpu_diff());
  layer->Backward(this->tops_, {true, false, true}, this->bottoms_);
  EXPECT_EQ(12, this->bottom_.asum_diff());
  EXPECT_EQ(0, this->bottom_b_.asum_diff());
  EXPECT_EQ(12, this->bottom_c_.asum_diff());
}

TYPED_TEST(EltwiseLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  for (const char* text : {kSum, kWeighted, kProduct, kUnstable}) {
    const auto layer = this->Make(text);
    GradientChecker<Dtype>(1e-2, 1e-2)
        .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
  }
  const auto layer = this->Make(kMaximum);
  GradientChecker<Dtype>(1e-4, 1e-2)
      .CheckGradientEltwise(layer.get(), this->bottoms_, this->tops_);
}

TYPED_TEST(EltwiseLayerTest, Refuses) {
  EXPECT_THAT(this->SetUpError("type: 'Eltwise' eltwise_param { coeff: 1 }"),
              HasSubstr("one coeff for each of its 3 bottoms or none, not 1"));
  EXPECT_THAT(this->SetUpError("type: 'Eltwise' eltwise_param { operation: "
                               "PROD coeff: 1 coeff: 2 coeff: 3 }"),
              HasSubstr("only with operation SUM"));
  this->bottom_c_.Reshape({2, 6});
  EXPECT_THAT(this->SetUpError(kSum),
              HasSubstr("same shape, not 2 3 1 2 (12) and 2 6 (12)"));
  this->bottom_c_.Reshape({2, 3, 1, 2});
  this->tops_ = {&this->bottom_};
  EXPECT_THAT(this->SetUpError(kSum), HasSubstr("in place"));
  this->tops_ = {&this->top_};
  this->bottoms_.resize(1);
  EXPECT_THAT(this->SetUpError(kSum), HasSubstr("at least 2 bottom"));
}

}  // namespace caffe
