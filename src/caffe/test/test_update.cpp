#include "cpu/update.hpp"

#include <omp.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/math_functions.hpp"

// The kernels against one value at a time in double, for sizes that leave
// remainders and that use all threads.

namespace caffe {

template <typename Dtype>
class UpdateTest : public ::testing::Test {
 protected:
  using Rule = std::function<double(double g, double* h, double* k)>;
  using Kernel = std::function<void(int n, Dtype* diff, Dtype* h, Dtype* k)>;

  void SetUp() override { Caffe::set_random_seed(1701); }

  static vector<Dtype> Gaussian(int n) {
    vector<Dtype> values(n);
    caffe_rng_gaussian<Dtype>(n, 0, 1, values.data());
    return values;
  }
  static vector<Dtype> Positive(int n) {
    vector<Dtype> values(n);
    caffe_rng_uniform<Dtype>(n, 0, 2, values.data());
    return values;
  }

  static void ExpectNear(double expected, double actual, int n, int i) {
    ASSERT_NEAR(expected, actual, 1e-5 * (1 + std::fabs(expected)))
        << "value " << i << " of " << n;
  }

  void Compare(const Kernel& kernel, const Rule& rule) {
    for (const int n : {1, 7, 64, 100003}) {
      vector<Dtype> diff = Gaussian(n);
      vector<Dtype> h = Positive(n);
      vector<Dtype> k = Positive(n);
      const vector<Dtype> g = diff;
      const vector<Dtype> h_before = h;
      const vector<Dtype> k_before = k;
      kernel(n, diff.data(), h.data(), k.data());
      for (int i = 0; i < n; ++i) {
        double expected_h = h_before[i];
        double expected_k = k_before[i];
        const double update = rule(g[i], &expected_h, &expected_k);
        ExpectNear(update, diff[i], n, i);
        ExpectNear(expected_h, h[i], n, i);
        ExpectNear(expected_k, k[i], n, i);
      }
    }
  }
};

TYPED_TEST_SUITE(UpdateTest, TestDtypes);

TYPED_TEST(UpdateTest, Sgd) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype*) {
        cpu::SgdUpdate<Dtype>(n, 0.25, 0.875, diff, h);
      },
      [](double g, double* h, double*) { return *h = 0.875 * *h + 0.25 * g; });
}

TYPED_TEST(UpdateTest, Nesterov) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype*) {
        cpu::NesterovUpdate<Dtype>(n, 0.25, 0.875, diff, h);
      },
      [](double g, double* h, double*) {
        const double before = *h;
        *h = 0.875 * before + 0.25 * g;
        return *h + 0.875 * (*h - before);
      });
}

TYPED_TEST(UpdateTest, AdaGrad) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype*) {
        cpu::AdaGradUpdate<Dtype>(n, 0.25, 0.125, diff, h);
      },
      [](double g, double* h, double*) {
        *h += g * g;
        return 0.25 * g / (std::sqrt(*h) + 0.125);
      });
}

TYPED_TEST(UpdateTest, RmsProp) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype*) {
        cpu::RmsPropUpdate<Dtype>(n, 0.25, 0.75, 0.125, diff, h);
      },
      [](double g, double* h, double*) {
        *h = 0.75 * *h + 0.25 * g * g;
        return 0.25 * g / (std::sqrt(*h) + 0.125);
      });
}

TYPED_TEST(UpdateTest, AdaDelta) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype* k) {
        cpu::AdaDeltaUpdate<Dtype>(n, 0.5, 0.75, 0.125, diff, h, k);
      },
      [](double g, double* h, double* k) {
        *h = 0.75 * *h + 0.25 * g * g;
        const double step = g * std::sqrt(*k + 0.125) / std::sqrt(*h + 0.125);
        *k = 0.75 * *k + 0.25 * step * step;
        return 0.5 * step;
      });
}

TYPED_TEST(UpdateTest, Adam) {
  using Dtype = TypeParam;
  this->Compare(
      [](int n, Dtype* diff, Dtype* h, Dtype* k) {
        cpu::AdamUpdate<Dtype>(n, 0.5, 0.75, 0.875, 0.125, diff, h, k);
      },
      [](double g, double* h, double* k) {
        *h = 0.75 * *h + 0.25 * g;
        *k = 0.875 * *k + 0.125 * g * g;
        return 0.5 * *h / (std::sqrt(*k) + 0.125);
      });
}

TYPED_TEST(UpdateTest, DecayAndWholeStep) {
  using Dtype = TypeParam;
  const int n = 100003;
  for (const cpu::Decay<Dtype> decay :
       {cpu::Decay<Dtype>{1, 0, 0}, cpu::Decay<Dtype>{0.5, 0, 0.25},
        cpu::Decay<Dtype>{0.5, 0.125, 0}, cpu::Decay<Dtype>{2, 0.5, 0.5}}) {
    vector<Dtype> data = this->Gaussian(n);
    data[3] = 0;
    vector<Dtype> diff = this->Gaussian(n);
    vector<Dtype> h = this->Gaussian(n);
    vector<Dtype> decayed = diff;
    cpu::AddDecay(n, decay, data.data(), decayed.data());
    const vector<Dtype> w = data;
    const vector<Dtype> g = diff;
    const vector<Dtype> h_before = h;
    cpu::SgdStep<Dtype>(n, decay, 0.25, 0.875, data.data(), diff.data(),
                        h.data());
    for (int i = 0; i < n; ++i) {
      const double sign = w[i] > 0 ? 1 : w[i] < 0 ? -1 : 0;
      const double gradient = static_cast<double>(decay.scale) * g[i] +
                              decay.l2 * w[i] + decay.l1 * sign;
      const double update = 0.875 * h_before[i] + 0.25 * gradient;
      this->ExpectNear(gradient, decayed[i], n, i);
      this->ExpectNear(update, diff[i], n, i);
      this->ExpectNear(update, h[i], n, i);
      this->ExpectNear(w[i] - update, data[i], n, i);
    }
  }
}

TYPED_TEST(UpdateTest, NoDecayLeavesTheWeightsOut) {
  using Dtype = TypeParam;
  const Dtype data[] = {std::numeric_limits<Dtype>::infinity()};
  Dtype diff[] = {3};
  cpu::AddDecay(1, cpu::Decay<Dtype>{2, 0, 0}, data, diff);
  EXPECT_EQ(6, diff[0]);
}

TYPED_TEST(UpdateTest, DoesNotDependOnTheNumberOfThreads) {
  using Dtype = TypeParam;
  const int n = 100003;
  const vector<Dtype> g = this->Gaussian(n);
  const vector<Dtype> start = this->Positive(n);
  const int threads = omp_get_max_threads();
  vector<vector<Dtype>> results;
  for (const int count : {1, 3}) {
    omp_set_num_threads(count);
    vector<Dtype> diff = g;
    vector<Dtype> m = start;
    vector<Dtype> v = start;
    cpu::AdamUpdate<Dtype>(n, 0.5, 0.9, 0.999, 1e-8, diff.data(), m.data(),
                           v.data());
    results.push_back(diff);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace caffe
