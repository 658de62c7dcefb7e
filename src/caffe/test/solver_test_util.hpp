#ifndef CAFFE_TEST_SOLVER_TEST_UTIL_HPP_
#define CAFFE_TEST_SOLVER_TEST_UTIL_HPP_

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "caffe/solver.hpp"
#include "caffe/solver_factory.hpp"
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

// Keeps the messages logged while it lives.
class LogRecorder : public google::LogSink {
 public:
  LogRecorder() { google::AddLogSink(this); }
  ~LogRecorder() override { google::RemoveLogSink(this); }

  const vector<string>& messages() const { return messages_; }
  bool Has(const string& message) const { return Count(message) > 0; }
  int Count(const string& message) const {
    return static_cast<int>(
        std::count(messages_.begin(), messages_.end(), message));
  }

 private:
  void send(google::LogSeverity /*severity*/, const char* /*file*/,
            const char* /*base_file*/, int /*line*/, const std::tm* /*time*/,
            const char* message, size_t length) override {
    messages_.emplace_back(message, length);
  }

  vector<string> messages_;
};

}  // namespace caffe

#endif  // CAFFE_TEST_SOLVER_TEST_UTIL_HPP_
