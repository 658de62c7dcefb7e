#ifndef CAFFE_UTIL_BENCHMARK_H_
#define CAFFE_UTIL_BENCHMARK_H_

#include <chrono>

#include "caffe/util/device_alternate.hpp"

namespace caffe {

// A stopwatch. Reading it stops it; a new Start() begins at zero.
class Timer {
 public:
  Timer() = default;
  virtual ~Timer() = default;

  virtual void Start();
  virtual void Stop();
  // All read zero, with a warning, before the first Start().
  virtual float MilliSeconds();
  virtual float MicroSeconds();
  virtual float Seconds();

  bool initted() const { return true; }
  bool running() const { return running_; }
  bool has_run_at_least_once() const { return has_run_at_least_once_; }

 protected:
  using Clock = std::chrono::steady_clock;

  // Stops; seconds between Start() and Stop().
  double Elapsed();

  bool running_ = false;
  bool has_run_at_least_once_ = false;
  Clock::time_point start_;
  Clock::time_point stop_;
};

// Measures on the host in any mode.
class CPUTimer : public Timer {};

}  // namespace caffe

#endif  // CAFFE_UTIL_BENCHMARK_H_
