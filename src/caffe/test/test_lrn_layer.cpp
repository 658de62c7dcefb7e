#include "caffe/layers/lrn_layer.hpp"

#include <limits>

#include "cpu/elementary.hpp"
#include "layer_test.hpp"

namespace caffe {

using testing::HasSubstr;

template <typename TypeParam>
class LRNLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  static string Prototxt(const string& settings) {
    return "type: 'LRN' lrn_param { " + settings + " }";
  }

  // The sum of squares over all values whose distance from (n, c, h, w) is at
  // most `channels` along channels and `pixels` along height and width.
  double SumOfSquares(int n, int c, int h, int w, int channels, int pixels) {
    double sum = 0;
    for (int cc = 0; cc < this->bottom_.channels(); ++cc) {
      for (int hh = 0; hh < this->bottom_.height(); ++hh) {
        for (int ww = 0; ww < this->bottom_.width(); ++ww) {
          if (std::abs(c - cc) > channels || std::abs(h - hh) > pixels ||
              std::abs(w - ww) > pixels) {
            continue;
          }
          const double value = this->bottom_.data_at(n, cc, hh, ww);
          sum += value * value;
        }
      }
    }
    return sum;
  }

  // Compares the top with x / (k + factor * sum of squares)^beta.
  void ExpectNormalized(double k, double factor, double beta, int channels,
                        int pixels) {
    ASSERT_EQ(this->bottom_.shape(), this->top_.shape());
    for (int n = 0; n < this->bottom_.num(); ++n) {
      for (int c = 0; c < this->bottom_.channels(); ++c) {
        for (int h = 0; h < this->bottom_.height(); ++h) {
          for (int w = 0; w < this->bottom_.width(); ++w) {
            const double scale =
                k + factor * SumOfSquares(n, c, h, w, channels, pixels);
            ASSERT_NEAR(
                this->bottom_.data_at(n, c, h, w) / std::pow(scale, beta),
                this->top_.data_at(n, c, h, w), 1e-5);
          }
        }
      }
    }
  }
};

TYPED_TEST_SUITE(LRNLayerTest, TestDtypesAndDevices);

TYPED_TEST(LRNLayerTest, AcrossChannels) {
  for (const auto kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    for (const int channels : {1, 3, 7, 12}) {
      this->FillNormal({2, channels, 3, 5}, &this->bottom_);
      this->Forward(this->Prototxt(""));
      this->ExpectNormalized(1, 1. / 5, 0.75, 2, 0);
      this->Forward(this->Prototxt("local_size: 3 alpha: 0.5 beta: 0.6 k: 2"));
      this->ExpectNormalized(2, 0.5 / 3, 0.6, 1, 0);
      this->Forward(this->Prototxt("local_size: 15"));
      this->ExpectNormalized(1, 1. / 15, 0.75, 7, 0);
    }
  }
}

TYPED_TEST(LRNLayerTest, WithinChannel) {
  for (const auto kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    this->FillNormal({2, 3, 6, 5}, &this->bottom_);
    for (const string settings : {"", "k: 7"}) {
      this->Forward(this->Prototxt(
          settings + " norm_region: WITHIN_CHANNEL local_size: 3 alpha: 2"));
      // k does not count here.
      this->ExpectNormalized(1, 2. / 9, 0.75, 0, 1);
    }
    this->Forward(
        this->Prototxt("norm_region: WITHIN_CHANNEL local_size: 13 beta: 0.5"));
    this->ExpectNormalized(1, 1. / 169, 0.5, 0, 6);
  }
}

TYPED_TEST(LRNLayerTest, HandWorkedValues) {
  this->FillValues({1, 3, 1, 1}, {1, 2, 3}, &this->bottom_);
  this->Forward(this->Prototxt("local_size: 3 alpha: 3 beta: 1 k: 0"));
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear({1. / 5, 2. / 14, 3. / 13}));
}

TYPED_TEST(LRNLayerTest, ForwardMayWorkInPlaceButNotBackward) {
  for (const char* region : {"ACROSS_CHANNELS", "WITHIN_CHANNEL"}) {
    const string prototxt =
        this->Prototxt(string("local_size: 3 norm_region: ") + region);
    this->FillNormal({2, 7, 3, 4}, &this->bottom_);
    this->tops_ = {&this->top_};
    this->Forward(prototxt);
    this->tops_ = this->bottoms_;
    const auto layer = this->Forward(prototxt);
    EXPECT_EQ(this->DataOf(this->top_), this->DataOf(this->bottom_));
    EXPECT_THAT(ErrorOf([&] { this->Backward(layer.get()); }),
                HasSubstr("in place"));
  }
}

TYPED_TEST(LRNLayerTest, Gradient) {
  this->FillNormal({1, 7, 2, 2}, &this->bottom_);
  this->CheckGradients(this->Prototxt(""), 1e-2, 1e-2);
  this->CheckGradients(this->Prototxt("local_size: 3 k: 2 alpha: 3 beta: 0.5"),
                       1e-2, 1e-2);
  this->CheckGradients(this->Prototxt("local_size: 15 engine: CAFFE"), 1e-2,
                       1e-2);
  this->FillNormal({1, 2, 4, 3}, &this->bottom_);
  this->CheckGradients(
      this->Prototxt("norm_region: WITHIN_CHANNEL local_size: 3"), 1e-2, 1e-2);
}

TYPED_TEST(LRNLayerTest, FastKernelsAgreeWithTheReference) {
  typedef typename TypeParam::Dtype Dtype;
  for (const vector<int>& shape :
       {vector<int>{1, 1, 1, 1}, vector<int>{3, 20, 16, 17},
        vector<int>{2, 9, 31, 33}, vector<int>{2, 4, 1, 3}}) {
    for (const char* settings :
         {"", "local_size: 1", "local_size: 9 beta: 0.5 k: 2",
          "local_size: 21 alpha: 0.01",
          "norm_region: WITHIN_CHANNEL local_size: 5",
          "norm_region: WITHIN_CHANNEL local_size: 41 beta: 1"}) {
      vector<Dtype> data[2];
      vector<Dtype> diff[2];
      this->FillNormal(shape, &this->bottom_, 3);
      for (const auto kernels :
           {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
        const cpu::ScopedKernels scope(kernels);
        const auto layer = this->Forward(this->Prototxt(settings));
        for (int i = 0; i < this->top_.count(); ++i) {
          this->top_.mutable_cpu_diff()[i] = Dtype(i * 7 % 101) / 101;
        }
        this->Backward(layer.get());
        data[static_cast<int>(kernels)] = this->DataOf(this->top_);
        diff[static_cast<int>(kernels)] = this->DiffOf(this->bottom_);
      }
      for (size_t i = 0; i < data[0].size(); ++i) {
        ASSERT_NEAR(data[1][i], data[0][i], 1e-5) << settings;
        ASSERT_NEAR(diff[1][i], diff[0][i], 1e-5) << settings;
      }
    }
  }
}

TYPED_TEST(LRNLayerTest, PowersAreThoseOfTheStandardLibrary) {
  typedef typename TypeParam::Dtype Dtype;
  vector<Dtype> values = {0, std::numeric_limits<Dtype>::infinity()};
  for (double exponent = -6; exponent < 9; exponent += 0.37) {
    values.push_back(std::pow(10., exponent));
  }
  for (const Dtype beta : {Dtype(0.75), Dtype(0.5), Dtype(1), Dtype(2.3)}) {
    vector<Dtype> powers(values.size());
    cpu::NegativePower<Dtype>(values.size(), beta, values.data(),
                              powers.data());
    EXPECT_EQ(std::numeric_limits<Dtype>::infinity(), powers[0]);
    EXPECT_EQ(0, powers[1]);
    for (size_t i = 2; i < values.size(); ++i) {
      const double expected = std::pow(double(values[i]), -double(beta));
      EXPECT_NEAR(1, powers[i] / expected, sizeof(Dtype) == 4 ? 3e-6 : 1e-14);
    }
    Dtype bad = std::numeric_limits<Dtype>::quiet_NaN();
    cpu::NegativePower<Dtype>(1, beta, &bad, &bad);
    EXPECT_TRUE(std::isnan(bad));
  }
}

TYPED_TEST(LRNLayerTest, Refuses) {
  this->FillNormal({2, 3, 4, 5}, &this->bottom_);
  for (const char* size : {"0", "4", "4294967294"}) {
    EXPECT_THAT(this->SetUpError(this->Prototxt(string("local_size: ") + size)),
                HasSubstr(string("local_size must be odd, not ") + size));
  }
  EXPECT_THAT(this->SetUpError(this->Prototxt("local_size: 4294967295")),
              HasSubstr("too large"));
  this->bottom_.Reshape({2, 3, 20});
  EXPECT_THAT(this->SetUpError(this->Prototxt("")), HasSubstr("4 axes"));
}

}  // namespace caffe
