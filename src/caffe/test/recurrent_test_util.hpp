#ifndef CAFFE_TEST_RECURRENT_TEST_UTIL_HPP_
#define CAFFE_TEST_RECURRENT_TEST_UTIL_HPP_

#include <cmath>
#include <string>
#include <vector>

#include "layer_test.hpp"

// What the tests of recurrent layers share: inputs, and references of plain
// loops over numbers.

namespace caffe {

inline double PlainSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Row `row` of a matrix times a vector.
inline double PlainProduct(const vector<double>& matrix, int row,
                           const vector<double>& vector) {
  double sum = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    sum += matrix[row * vector.size() + i] * vector[i];
  }
  return sum;
}

template <typename TypeParam>
class RecurrentLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;
  static constexpr int kSteps = 3;
  static constexpr int kStreams = 2;
  static constexpr int kOutputs = 2;

  RecurrentLayerTest() {
    this->bottoms_.push_back(&this->bottom_b_);
    this->FillNormal({kSteps, kStreams, 2, 2}, &this->bottom_);
    // Both streams begin, then one goes on and the other begins again.
    this->FillValues({kSteps, kStreams}, {0, 0, 1, 0, 1, 1}, &this->bottom_b_);
  }

  void AddStaticInput() {
    this->FillNormal({kStreams, 3}, &this->bottom_c_);
    this->bottoms_.push_back(&this->bottom_c_);
  }

  static string Settings(const string& type, const string& more = "") {
    return "name: 'cell' type: '" + type +
           "' recurrent_param { num_output: 2 "
           "weight_filler { type: 'gaussian' std: 0.5 } "
           "bias_filler { type: 'gaussian' std: 0.5 } " +
           more + " }";
  }

  // Row t * streams + n of a blob has the values of stream n at step t.
  static vector<double> Row(const Blob<Dtype>& blob, int row, int width) {
    const Dtype* const values = blob.cpu_data() + row * width;
    return {values, values + width};
  }
  static vector<double> AllOf(const Blob<Dtype>& blob) {
    return {blob.cpu_data(), blob.cpu_data() + blob.count()};
  }

  static vector<vector<int>> ParameterShapes(Layer<Dtype>* layer) {
    vector<vector<int>> shapes;
    for (const auto& blob : layer->blobs()) shapes.push_back(blob->shape());
    return shapes;
  }

  static void FillDiff(Blob<Dtype>* blob) {
    for (int i = 0; i < blob->count(); ++i) {
      blob->mutable_cpu_diff()[i] = static_cast<Dtype>(i % 5 - 2);
    }
  }
};

}  // namespace caffe

#endif  // CAFFE_TEST_RECURRENT_TEST_UTIL_HPP_
