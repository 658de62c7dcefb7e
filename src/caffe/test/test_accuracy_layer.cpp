#include "caffe/layers/accuracy_layer.hpp"

#include <limits>

#include "layer_test.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename TypeParam>
class AccuracyLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  AccuracyLayerTest() {
    this->bottoms_.push_back(&this->bottom_b_);
    this->FillNormal({100, 10}, &this->bottom_);
    FillLabels({100}, 10);
  }

  void FillLabels(const vector<int>& shape, int classes) {
    this->bottom_b_.Reshape(shape);
    for (int i = 0; i < this->bottom_b_.count(); ++i) {
      this->bottom_b_.mutable_cpu_data()[i] = i * 7 % classes;
    }
  }

  // How often the label's score is among the k best, by sorting them.
  double Expected(int axis, int k, int ignored = -1) const {
    const int classes = this->bottom_.shape(axis);
    const int inner = this->bottom_.count(axis + 1);
    int right = 0;
    int seen = 0;
    for (int i = 0; i < this->bottom_b_.count(); ++i) {
      const int label = static_cast<int>(this->bottom_b_.cpu_data()[i]);
      if (label == ignored) continue;
      vector<pair<Dtype, int>> scores;
      for (int c = 0; c < classes; ++c) {
        const int at = (i / inner * classes + c) * inner + i % inner;
        scores.emplace_back(-this->bottom_.cpu_data()[at], c);
      }
      std::sort(scores.begin(), scores.end());
      ++seen;
      for (int c = 0; c < k; ++c) right += scores[c].second == label;
    }
    return double(right) / seen;
  }

  Dtype Accuracy(const string& settings) {
    this->Forward("type: 'Accuracy' accuracy_param { " + settings + " }");
    return this->top_.cpu_data()[0];
  }
};

TYPED_TEST_SUITE(AccuracyLayerTest, TestDtypesAndDevices);

TYPED_TEST(AccuracyLayerTest, TopOneAndTopK) {
  EXPECT_NEAR(this->Expected(1, 1), this->Accuracy(""), 1e-6);
  EXPECT_EQ(0, this->top_.num_axes());
  EXPECT_NEAR(this->Expected(1, 5), this->Accuracy("top_k: 5"), 1e-6);
  EXPECT_EQ(1, this->Accuracy("top_k: 10"));
}

TYPED_TEST(AccuracyLayerTest, OtherAxes) {
  this->FillNormal({4, 5, 3, 2}, &this->bottom_);
  this->FillLabels({4, 3, 2}, 5);
  EXPECT_NEAR(this->Expected(1, 1), this->Accuracy(""), 1e-6);
  EXPECT_NEAR(this->Expected(1, 3), this->Accuracy("top_k: 3 axis: -3"), 1e-6);
  this->FillLabels({4, 5, 2}, 3);
  EXPECT_NEAR(this->Expected(2, 1), this->Accuracy("axis: 2"), 1e-6);
  this->FillLabels({4, 5, 3}, 2);
  EXPECT_NEAR(this->Expected(3, 1), this->Accuracy("axis: -1"), 1e-6);
}

TYPED_TEST(AccuracyLayerTest, IgnoresALabel) {
  EXPECT_NEAR(this->Expected(1, 1, 3), this->Accuracy("ignore_label: 3"), 1e-6);
  typedef typename TypeParam::Dtype Dtype;
  caffe_set(100, Dtype(255), this->bottom_b_.mutable_cpu_data());
  EXPECT_EQ(0, this->Accuracy("ignore_label: 255"));
}

TYPED_TEST(AccuracyLayerTest, EqualScoresCountAsBetter) {
  this->FillValues({3, 3}, {1, 1, 0, 0, 2, 1, 5, 5, 5}, &this->bottom_);
  this->FillValues({3}, {0, 1, 2}, &this->bottom_b_);
  EXPECT_NEAR(1. / 3, this->Accuracy(""), 1e-6);
  EXPECT_NEAR(2. / 3, this->Accuracy("top_k: 2"), 1e-6);
}

TYPED_TEST(AccuracyLayerTest, ScoresThatAreNotNumbersAreNeverRight) {
  typedef typename TypeParam::Dtype Dtype;
  caffe_set(this->bottom_.count(), std::numeric_limits<Dtype>::quiet_NaN(),
            this->bottom_.mutable_cpu_data());
  EXPECT_EQ(0, this->Accuracy(""));
}

TYPED_TEST(AccuracyLayerTest, ASecondTopHasEveryClass) {
  this->tops_.push_back(&this->top_b_);
  this->FillValues({5, 3}, {3, 1, 2, 1, 3, 2, 9, 1, 2, 4, 3, 1, 1, 2, 3},
                   &this->bottom_);
  // Best: 0, 1, 0, 0, 2.
  this->FillValues({5}, {0, 1, 1, 0, 1}, &this->bottom_b_);
  EXPECT_NEAR(3. / 5, this->Accuracy(""), 1e-6);
  EXPECT_THAT(this->top_b_.shape(), ElementsAre(3));
  EXPECT_EQ(1, this->top_b_.cpu_data()[0]);
  EXPECT_NEAR(1. / 3, this->top_b_.cpu_data()[1], 1e-6);
  EXPECT_EQ(0, this->top_b_.cpu_data()[2]);
}

TYPED_TEST(AccuracyLayerTest, Refuses) {
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'Accuracy' accuracy_param { " + settings +
                            " }");
  };
  EXPECT_THAT(error("top_k: 11"), HasSubstr("top_k is 11"));
  EXPECT_THAT(error("top_k: 4294967295"), HasSubstr("top_k"));
  EXPECT_THAT(error("axis: 2"), HasSubstr("axis 2"));
  EXPECT_THAT(error("axis: 0"), HasSubstr("need 10 labels"));
  this->bottom_b_.Reshape({99});
  EXPECT_THAT(error(""), HasSubstr("need 100 labels"));
  this->FillLabels({100}, 11);
  EXPECT_THROW(this->Accuracy(""), Error);
}

TYPED_TEST(AccuracyLayerTest, HasNoGradient) {
  const auto layer = this->Forward("type: 'Accuracy'");
  EXPECT_NO_THROW(layer->Backward(this->tops_, {false, false}, this->bottoms_));
  EXPECT_THROW(layer->Backward(this->tops_, {true, false}, this->bottoms_),
               Error);
}

}  // namespace caffe
