#ifndef CAFFE_UTIL_BLOCKING_QUEUE_HPP_
#define CAFFE_UTIL_BLOCKING_QUEUE_HPP_

#include <condition_variable>
#include <mutex>
#include <queue>
#include <string>

#include "caffe/common.hpp"
#include "caffe/internal_thread.hpp"

namespace caffe {

// What a BlockingQueue throws to an InternalThread that waits in it and is to
// stop.
class ThreadInterrupted {};

// A first-in-first-out queue between threads, without a limit.
template <typename T>
class BlockingQueue {
 public:
  explicit BlockingQueue() = default;

  void push(const T& t) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push(t);
    }
    pushed_.notify_one();
  }

  // False when the queue is empty.
  bool try_pop(T* t) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    *t = Take();
    return true;
  }

  // Waits until there is something. Logs the text, now and then, when it has
  // to wait.
  T pop(const string& log_on_wait = "") {
    std::unique_lock lock(mutex_);
    if (queue_.empty() && !log_on_wait.empty()) {
      LOG_EVERY_N(INFO, 1000) << log_on_wait;
    }
    Wait(&lock);
    return Take();
  }

  bool try_peek(T* t) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    *t = queue_.front();
    return true;
  }

  // Waits like pop(), and leaves the element in the queue.
  T peek() {
    std::unique_lock lock(mutex_);
    Wait(&lock);
    return queue_.front();
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

 private:
  void Wait(std::unique_lock<std::mutex>* lock) {
    const bool has_element = pushed_.wait(*lock, CurrentStopToken(),
                                          [this] { return !queue_.empty(); });
    if (!has_element) throw ThreadInterrupted();
  }

  T Take() {
    T element = queue_.front();
    queue_.pop();
    return element;
  }

  mutable std::mutex mutex_;
  std::condition_variable_any pushed_;
  std::queue<T> queue_;

  DISABLE_COPY_AND_ASSIGN(BlockingQueue);
};

}  // namespace caffe

#endif  // CAFFE_UTIL_BLOCKING_QUEUE_HPP_
