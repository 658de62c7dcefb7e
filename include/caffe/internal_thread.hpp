#ifndef CAFFE_INTERNAL_THREAD_HPP_
#define CAFFE_INTERNAL_THREAD_HPP_

#include <stop_token>
#include <thread>

#include "caffe/common.hpp"

namespace caffe {

// Base of classes that do some of their work in a thread of their own, in
// InternalThreadEntry(). The thread has the mode and the place among parallel
// solvers of the one that starts it, and random numbers that follow from that
// one's.
//
// A subclass must call StopInternalThread() in its destructor, before its
// members go.
class InternalThread {
 public:
  InternalThread() = default;
  virtual ~InternalThread();

  // REQUIRES: not started, or stopped again.
  void StartInternalThread();
  // Asks the thread to end and waits until it has. A thread that waits in a
  // BlockingQueue gets ThreadInterrupted there, which need not be caught.
  void StopInternalThread();
  bool is_started() const { return thread_.joinable(); }

 protected:
  // What the thread does. Errors end the process: nobody waits for them.
  virtual void InternalThreadEntry() {}
  // Whether the thread shall end; it should ask often.
  bool must_stop() const { return stop_.stop_requested(); }

 private:
  struct Settings;
  void Run(const Settings& settings);

  std::stop_source stop_;
  std::thread thread_;

  DISABLE_COPY_AND_ASSIGN(InternalThread);
};

// Asked to stop together with the calling InternalThread; in any other thread,
// never.
std::stop_token CurrentStopToken();

}  // namespace caffe

#endif  // CAFFE_INTERNAL_THREAD_HPP_
