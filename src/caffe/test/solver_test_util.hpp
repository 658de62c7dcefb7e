#ifndef CAFFE_TEST_SOLVER_TEST_UTIL_HPP_
#define CAFFE_TEST_SOLVER_TEST_UTIL_HPP_

#include <google/protobuf/text_format.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe/solver.hpp"
#include "caffe/solver_factory.hpp"
#include "log_recorder.hpp"
#include "net_test_util.hpp"

// What the tests of solvers share.

namespace caffe {

inline SolverParameter ParseSolver(const string& text) {
  SolverParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &param));
  return param;
}

// A solver of the type that `param` names.
template <typename Dtype>
std::unique_ptr<Solver<Dtype>> MakeSolver(const SolverParameter& param) {
  return std::unique_ptr<Solver<Dtype>>(
      SolverRegistry<Dtype>::CreateSolver(param));
}

// The data of all parameters, one after the other.
template <typename Dtype>
vector<Dtype> WeightsOf(Solver<Dtype>& solver) {
  vector<Dtype> weights;
  for (const Blob<Dtype>* blob : solver.net()->learnable_params()) {
    const vector<Dtype> values = DataOf(*blob);
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

}  // namespace caffe

#endif  // CAFFE_TEST_SOLVER_TEST_UTIL_HPP_
