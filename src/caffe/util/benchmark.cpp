#include "caffe/util/benchmark.hpp"

#include <glog/logging.h>

namespace caffe {

void Timer::Start() {
  if (running_) return;
  start_ = Clock::now();
  running_ = true;
  has_run_at_least_once_ = true;
}

void Timer::Stop() {
  if (!running_) return;
  stop_ = Clock::now();
  running_ = false;
}

double Timer::Elapsed() {
  LOG_IF(WARNING, !has_run_at_least_once_)
      << "A timer is read that was never started.";
  Stop();
  return std::chrono::duration<double>(stop_ - start_).count();
}

float Timer::MilliSeconds() { return static_cast<float>(Elapsed() * 1e3); }
float Timer::MicroSeconds() { return static_cast<float>(Elapsed() * 1e6); }
float Timer::Seconds() { return static_cast<float>(Elapsed()); }

}  // namespace caffe
