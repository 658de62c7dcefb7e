#include "caffe/util/benchmark.hpp"

#include <chrono>
#include <thread>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/format.hpp"

namespace caffe {

TEST(TimerTest, MeasuresTime) {
  CPUTimer timer;
  EXPECT_TRUE(timer.initted());
  EXPECT_FALSE(timer.running());
  EXPECT_FALSE(timer.has_run_at_least_once());
  EXPECT_EQ(0, timer.MilliSeconds());
  timer.Start();
  EXPECT_TRUE(timer.running());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const float milliseconds = timer.MilliSeconds();
  EXPECT_FALSE(timer.running());
  EXPECT_TRUE(timer.has_run_at_least_once());
  EXPECT_GE(milliseconds, 20);
  EXPECT_LT(milliseconds, 5000);
  EXPECT_FLOAT_EQ(milliseconds * 1000, timer.MicroSeconds());
  EXPECT_FLOAT_EQ(milliseconds / 1000, timer.Seconds());
}

TEST(TimerTest, StartsFromZeroAgain) {
  Timer timer;
  timer.Start();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const float first = timer.MilliSeconds();
  timer.Start();
  timer.Stop();
  EXPECT_LT(timer.MilliSeconds(), first);
}

TEST(FormatTest, FillsUpWithZeros) {
  EXPECT_EQ("7", format_int(7));
  EXPECT_EQ("00000042", format_int(42, 8));
  EXPECT_EQ("123456", format_int(123456, 3));
}

}  // namespace caffe
