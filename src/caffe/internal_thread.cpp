#include "caffe/internal_thread.hpp"

#include "caffe/util/blocking_queue.hpp"
#include "caffe/util/math_functions.hpp"

namespace caffe {

namespace {

thread_local std::stop_token current_stop_token;

}  // namespace

// What a thread takes over from the one that starts it.
struct InternalThread::Settings {
  Caffe::Brew mode = Caffe::mode();
  unsigned int seed = caffe_rng_rand();
  int solver_count = Caffe::solver_count();
  int solver_rank = Caffe::solver_rank();
  bool multiprocess = Caffe::multiprocess();
};

InternalThread::~InternalThread() { StopInternalThread(); }

void InternalThread::StartInternalThread() {
  CHECK(!is_started()) << "Threads should persist and not be restarted.";
  stop_ = std::stop_source();
  thread_ = std::thread(&InternalThread::Run, this, Settings());
}

void InternalThread::StopInternalThread() {
  if (!is_started()) return;
  stop_.request_stop();
  thread_.join();
}

void InternalThread::Run(const Settings& settings) {
  current_stop_token = stop_.get_token();
  Caffe::set_mode(settings.mode);
  Caffe::set_random_seed(settings.seed);
  Caffe::set_solver_count(settings.solver_count);
  Caffe::set_solver_rank(settings.solver_rank);
  Caffe::set_multiprocess(settings.multiprocess);
  try {
    InternalThreadEntry();
  } catch (const ThreadInterrupted&) {
    // The usual end of a thread that waits most of its time.
  } catch (const std::exception& error) {
    LOG(FATAL) << "A thread failed: " << error.what();
  }
}

std::stop_token CurrentStopToken() { return current_stop_token; }

}  // namespace caffe
