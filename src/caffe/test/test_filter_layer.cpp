#include "caffe/layers/filter_layer.hpp"

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLayer[] = "type: 'Filter'";

template <typename TypeParam>
class FilterLayerTest : public LayerTest<TypeParam> {
 protected:
  FilterLayerTest() {
    this->bottoms_ = {&this->bottom_, &this->bottom_b_, &this->bottom_c_};
    this->tops_.push_back(&this->top_b_);
    this->FillValues({3, 2, 1}, {1, 2, 3, 4, 5, 6}, &this->bottom_);
    this->FillValues({3}, {7, 8, 9}, &this->bottom_b_);
    this->FillValues({3, 1}, {1, 0, -2}, &this->bottom_c_);
  }
};

TYPED_TEST_SUITE(FilterLayerTest, TestDtypesAndDevices);

TYPED_TEST(FilterLayerTest, PassesOnWhatIsSelected) {
  const auto layer = this->SetUp(kLayer);
  EXPECT_THAT(this->top_.shape(), ElementsAre(3, 2, 1));
  EXPECT_THAT(this->top_b_.shape(), ElementsAre(3));
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_THAT(this->top_.shape(), ElementsAre(2, 2, 1));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(this->DataOf(this->top_b_), ElementsAre(7, 9));
}

TYPED_TEST(FilterLayerTest, TheOthersGetNoGradient) {
  const auto layer = this->Forward(kLayer);
  for (int i = 0; i < 4; ++i) this->top_.mutable_cpu_diff()[i] = 10 + i;
  for (auto* bottom : this->bottoms_) {
    caffe_set(bottom->count(), typename TypeParam::Dtype(99),
              bottom->mutable_cpu_diff());
  }
  layer->Backward(this->tops_, {true, false, false}, this->bottoms_);
  EXPECT_THAT(this->DiffOf(this->bottom_), ElementsAre(10, 11, 0, 0, 12, 13));
  EXPECT_THAT(this->DiffOf(this->bottom_b_), ElementsAre(99, 99, 99));
}

TYPED_TEST(FilterLayerTest, EveryBatchHasItsOwnSelection) {
  const auto layer = this->Forward(kLayer);
  const auto select = [&](std::initializer_list<double> selectors) {
    this->FillValues({3, 1}, selectors, &this->bottom_c_);
    layer->Forward(this->bottoms_, this->tops_);
    return this->DataOf(this->top_b_);
  };
  EXPECT_THAT(select({1, 1, 1}), ElementsAre(7, 8, 9));
  EXPECT_THAT(select({0, 1, 0}), ElementsAre(8));
  EXPECT_THAT(select({0, 0, 0}), ElementsAre());
  EXPECT_THAT(this->top_.shape(), ElementsAre(0, 2, 1));
  layer->Backward(this->tops_, {true, true, false}, this->bottoms_);
  EXPECT_EQ(0, this->bottom_.asum_diff());
}

TYPED_TEST(FilterLayerTest, Gradient) {
  typedef typename TypeParam::Dtype Dtype;
  const auto layer = this->Make(kLayer);
  for (const int bottom : {0, 1}) {
    GradientChecker<Dtype>(1e-2, 1e-2)
        .CheckGradientExhaustive(layer.get(), this->bottoms_, this->tops_,
                                 bottom);
  }
}

TYPED_TEST(FilterLayerTest, Refuses) {
  const auto layer = this->Forward(kLayer);
  EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
              HasSubstr("no gradient"));
  this->bottom_c_.Reshape({3, 2});
  EXPECT_THAT(this->SetUpError(kLayer), HasSubstr("one selector for each"));
  this->bottom_c_.Reshape({2});
  EXPECT_THAT(this->SetUpError(kLayer),
              HasSubstr("2 selectors for a bottom of shape 3 2 1"));
  this->bottom_c_.Reshape({3});
  this->tops_[0] = &this->bottom_b_;
  EXPECT_THAT(this->SetUpError(kLayer), HasSubstr("in place"));
  this->tops_.resize(1);
  EXPECT_THAT(this->SetUpError(kLayer),
              HasSubstr("a top for each of its 2 bottom(s) before"));
}

}  // namespace caffe
