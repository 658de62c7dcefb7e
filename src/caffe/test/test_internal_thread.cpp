#include "caffe/internal_thread.hpp"

#include <atomic>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/blocking_queue.hpp"
#include "caffe/util/math_functions.hpp"

namespace caffe {

// Runs a function in its thread.
class FunctionThread : public InternalThread {
 public:
  explicit FunctionThread(const std::function<void(const FunctionThread&)>& f)
      : function_(f) {}
  ~FunctionThread() override { StopInternalThread(); }
  bool ends() const { return must_stop(); }

 protected:
  void InternalThreadEntry() override { function_(*this); }

 private:
  const std::function<void(const FunctionThread&)> function_;
};

TEST(InternalThreadTest, StartsAndStopsAgainAndAgain) {
  std::atomic<int> runs = 0;
  FunctionThread thread([&](const FunctionThread& self) {
    ++runs;
    while (!self.ends()) std::this_thread::yield();
  });
  EXPECT_FALSE(thread.is_started());
  for (int i = 1; i <= 3; ++i) {
    thread.StartInternalThread();
    EXPECT_TRUE(thread.is_started());
    while (runs < i) std::this_thread::yield();
    thread.StopInternalThread();
    EXPECT_FALSE(thread.is_started());
  }
  thread.StopInternalThread();
  EXPECT_EQ(3, runs);
}

TEST(InternalThreadTest, TakesOverSettings) {
  Caffe::set_solver_count(4);
  Caffe::set_solver_rank(3);
  Caffe::set_multiprocess(true);
  bool is_right = false;
  FunctionThread thread([&](const FunctionThread&) {
    is_right = Caffe::mode() == Caffe::CPU && Caffe::solver_count() == 4 &&
               Caffe::solver_rank() == 3 && Caffe::multiprocess();
  });
  thread.StartInternalThread();
  thread.StopInternalThread();
  EXPECT_TRUE(is_right);
  Caffe::set_solver_count(1);
  Caffe::set_solver_rank(0);
  Caffe::set_multiprocess(false);
}

TEST(InternalThreadTest, RandomNumbersFollowFromTheSeed) {
  const auto draw = [](unsigned int seed) {
    Caffe::set_random_seed(seed);
    unsigned int number = 0;
    FunctionThread thread(
        [&](const FunctionThread&) { number = caffe_rng_rand(); });
    thread.StartInternalThread();
    thread.StopInternalThread();
    return number;
  };
  EXPECT_EQ(draw(1701), draw(1701));
  EXPECT_NE(draw(1701), draw(1702));
}

TEST(InternalThreadTest, StopEndsAWaitInAQueue) {
  BlockingQueue<int> queue;
  std::atomic<bool> waits = false;
  FunctionThread thread([&](const FunctionThread&) {
    waits = true;
    queue.pop();
    FAIL() << "there was nothing to pop";
  });
  thread.StartInternalThread();
  while (!waits) std::this_thread::yield();
  thread.StopInternalThread();
}

TEST(InternalThreadDeathTest, ErrorsAreNotLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FunctionThread thread(
            [](const FunctionThread&) { Fail("the disk is gone"); });
        thread.StartInternalThread();
        thread.StopInternalThread();
      },
      "A thread failed: the disk is gone");
}

TEST(BlockingQueueTest, IsFirstInFirstOut) {
  BlockingQueue<int> queue;
  int value = 0;
  EXPECT_FALSE(queue.try_pop(&value));
  EXPECT_FALSE(queue.try_peek(&value));
  queue.push(1);
  queue.push(2);
  EXPECT_EQ(2, queue.size());
  EXPECT_TRUE(queue.try_peek(&value));
  EXPECT_EQ(1, value);
  EXPECT_EQ(1, queue.peek());
  EXPECT_EQ(1, queue.pop("waiting"));
  EXPECT_TRUE(queue.try_pop(&value));
  EXPECT_EQ(2, value);
  EXPECT_EQ(0, queue.size());
}

TEST(BlockingQueueTest, HandsEverythingOver) {
  constexpr int kItems = 10000;
  BlockingQueue<int> queue;
  FunctionThread producer([&](const FunctionThread&) {
    for (int i = 0; i < kItems; ++i) queue.push(i);
  });
  producer.StartInternalThread();
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(i, queue.pop());
}

}  // namespace caffe
