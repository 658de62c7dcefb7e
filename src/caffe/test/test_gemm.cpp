#include <cmath>
#include <random>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/math_functions.hpp"
#include "cpu/engine.hpp"

namespace caffe {

template <typename Dtype>
class GemmTest : public ::testing::Test {
 protected:
  static vector<Dtype> Random(int count, int seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<Dtype> uniform(-1, 1);
    vector<Dtype> values(count);
    for (Dtype& value : values) value = uniform(generator);
    return values;
  }

  // One product, by both kinds of kernels, against the definition.
  static void Check(int m, int n, int k, CBLAS_TRANSPOSE op_a,
                    CBLAS_TRANSPOSE op_b, Dtype alpha, Dtype beta) {
    const vector<Dtype> a = Random(m * k, 1);
    const vector<Dtype> b = Random(k * n, 2);
    const vector<Dtype> c = Random(m * n, 3);
    for (const auto choice :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(choice);
      // What is not to be read is not a number.
      vector<Dtype> result = beta == 0 ? vector<Dtype>(m * n, NAN) : c;
      caffe_cpu_gemm(op_a, op_b, m, n, k, alpha, a.data(), b.data(), beta,
                     result.data());
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l) {
            sum += double(a[op_a == CblasNoTrans ? i * k + l : l * m + i]) *
                   b[op_b == CblasNoTrans ? l * n + j : j * k + l];
          }
          const double before = beta == 0 ? 0 : c[i * n + j] * beta;
          ASSERT_NEAR(alpha * sum + before, result[i * n + j],
                      1e-4 * (1 + std::fabs(sum)))
              << m << " x " << n << " x " << k << " at " << i << ", " << j;
        }
      }
    }
  }
};

TYPED_TEST_SUITE(GemmTest, TestDtypes);

TYPED_TEST(GemmTest, ProductsAreTheDefinition) {
  const int sizes[][3] = {{1, 1, 1},   {2, 3, 4},    {7, 1, 13},  {1, 9, 30},
                          {33, 17, 5}, {64, 48, 32}, {5, 130, 67}};
  for (const auto& size : sizes) {
    for (const auto op_a : {CblasNoTrans, CblasTrans}) {
      for (const auto op_b : {CblasNoTrans, CblasTrans}) {
        this->Check(size[0], size[1], size[2], op_a, op_b, 1, 0);
        this->Check(size[0], size[1], size[2], op_a, op_b, 1, 1);
        this->Check(size[0], size[1], size[2], op_a, op_b, -0.5, 2);
      }
    }
  }
}

TYPED_TEST(GemmTest, EmptyMatrices) {
  this->Check(3, 4, 0, CblasNoTrans, CblasNoTrans, 1, 0);
  this->Check(3, 4, 0, CblasTrans, CblasTrans, 1, 2);
  this->Check(0, 4, 3, CblasNoTrans, CblasTrans, 1, 0);
  this->Check(3, 0, 4, CblasTrans, CblasNoTrans, 1, 0);
}

}  // namespace caffe
