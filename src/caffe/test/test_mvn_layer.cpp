#include "caffe/layers/mvn_layer.hpp"

#include <cmath>

#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

string Mvn(const string& settings) {
  return "type: 'MVN' mvn_param { " + settings + " }";
}

template <typename TypeParam>
class MVNLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  MVNLayerTest() { this->FillNormal({2, 3, 4, 5}, &this->bottom_); }

  // Every run of `size` values of the top must be that of the bottom without
  // its mean, and over its deviation plus eps.
  void ExpectNormalized(int size, bool divides, double eps) {
    ASSERT_EQ(this->bottom_.shape(), this->top_.shape());
    for (int first = 0; first < this->top_.count(); first += size) {
      const Dtype* const in = this->bottom_.cpu_data() + first;
      double mean = 0;
      double variance = 0;
      for (int i = 0; i < size; ++i) mean += in[i] / size;
      for (int i = 0; i < size; ++i) {
        variance += (in[i] - mean) * (in[i] - mean) / size;
      }
      const double divisor = divides ? std::sqrt(variance) + eps : 1;
      for (int i = 0; i < size; ++i) {
        ASSERT_NEAR((in[i] - mean) / divisor, this->top_.cpu_data()[first + i],
                    1e-5);
      }
    }
  }
};

TYPED_TEST_SUITE(MVNLayerTest, TestDtypesAndDevices);

TYPED_TEST(MVNLayerTest, EveryChannelOfEveryImage) {
  this->Forward("type: 'MVN'");
  this->ExpectNormalized(20, true, 1e-9);
  this->Forward(Mvn("eps: 0.5"));
  this->ExpectNormalized(20, true, 0.5);
}

TYPED_TEST(MVNLayerTest, MeanOnly) {
  this->Forward(Mvn("normalize_variance: false"));
  this->ExpectNormalized(20, false, 0);
}

TYPED_TEST(MVNLayerTest, AcrossChannels) {
  this->Forward(Mvn("across_channels: true"));
  this->ExpectNormalized(60, true, 1e-9);
  this->Forward(Mvn("across_channels: true normalize_variance: false"));
  this->ExpectNormalized(60, false, 0);
}

TYPED_TEST(MVNLayerTest, AnyNumberOfAxes) {
  this->FillNormal({2, 3, 4, 5, 2}, &this->bottom_);
  this->Forward("type: 'MVN'");
  this->ExpectNormalized(40, true, 1e-9);
  this->FillNormal({4, 30}, &this->bottom_);
  this->Forward(Mvn("across_channels: true"));
  this->ExpectNormalized(30, true, 1e-9);
}

TYPED_TEST(MVNLayerTest, EqualValuesBecomeZeros) {
  caffe_set(120, typename TypeParam::Dtype(3),
            this->bottom_.mutable_cpu_data());
  this->Forward("type: 'MVN'");
  EXPECT_THAT(this->DataOf(this->top_), testing::Each(0));
}

TYPED_TEST(MVNLayerTest, InPlace) {
  for (const char* settings :
       {"", "across_channels: true", "normalize_variance: false"}) {
    this->ExpectSameInPlace(Mvn(settings));
  }
}

TYPED_TEST(MVNLayerTest, Gradient) {
  this->FillNormal({2, 2, 3, 2}, &this->bottom_);
  for (const char* settings :
       {"", "across_channels: true", "normalize_variance: false",
        "normalize_variance: false across_channels: true"}) {
    this->CheckGradients(Mvn(settings), 1e-2, 1e-2);
  }
}

TYPED_TEST(MVNLayerTest, Refuses) {
  this->bottom_.Reshape(vector<int>());
  EXPECT_THAT(this->SetUpError("type: 'MVN'"), HasSubstr("a single number"));
}

}  // namespace caffe
