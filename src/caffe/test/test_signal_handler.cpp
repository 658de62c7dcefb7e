#include "caffe/util/signal_handler.h"

#include <csignal>

#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

TEST(SignalHandlerTest, TurnsSignalsIntoActions) {
  SignalHandler handler(SolverAction::STOP, SolverAction::SNAPSHOT);
  const ActionCallback action = handler.GetActionFunction();
  EXPECT_EQ(SolverAction::NONE, action());
  (void)std::raise(SIGINT);
  EXPECT_EQ(SolverAction::STOP, action());
  EXPECT_EQ(SolverAction::NONE, action()) << "every signal counts once";
  (void)std::raise(SIGHUP);
  EXPECT_EQ(SolverAction::SNAPSHOT, action());
  // Both are heard, the snapshot first.
  (void)std::raise(SIGINT);
  (void)std::raise(SIGHUP);
  EXPECT_EQ(SolverAction::SNAPSHOT, action());
  EXPECT_EQ(SolverAction::STOP, action());
  EXPECT_EQ(SolverAction::NONE, action());
}

TEST(SignalHandlerTest, GivesTheSignalsBack) {
  static int heard = 0;
  const auto old = std::signal(SIGHUP, [](int) { ++heard; });
  {
    const SignalHandler handler(SolverAction::NONE, SolverAction::NONE);
    (void)std::raise(SIGHUP);
  }
  EXPECT_EQ(0, heard);
  (void)std::raise(SIGHUP);
  EXPECT_EQ(1, heard);
  (void)std::signal(SIGHUP, old);
}

TEST(SignalHandlerDeathTest, ThereIsOnlyOne) {
  const SignalHandler first(SolverAction::STOP, SolverAction::STOP);
  EXPECT_DEATH(SignalHandler(SolverAction::STOP, SolverAction::STOP),
               "signal handler already");
}

}  // namespace caffe
