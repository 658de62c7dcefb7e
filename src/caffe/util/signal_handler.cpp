#include "caffe/util/signal_handler.h"

#include <atomic>

namespace caffe {

namespace {

// Locks are not allowed where signals are handled.
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<bool> got_sigint = false;
std::atomic<bool> got_sighup = false;
std::atomic<bool> is_hooked = false;

void Remember(int signal) {
  (signal == SIGINT ? got_sigint : got_sighup) = true;
}

void Hook(int signal, struct sigaction* old) {
  struct sigaction action = {};
  action.sa_handler = Remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  CHECK_EQ(0, sigaction(signal, &action, old));
}

}  // namespace

SignalHandler::SignalHandler(SolverAction::Enum SIGINT_action,
                             SolverAction::Enum SIGHUP_action)
    : SIGINT_action_(SIGINT_action), SIGHUP_action_(SIGHUP_action) {
  CHECK(!is_hooked.exchange(true)) << "There is a signal handler already.";
  got_sigint = false;
  got_sighup = false;
  Hook(SIGINT, &old_sigint_);
  Hook(SIGHUP, &old_sighup_);
}

SignalHandler::~SignalHandler() {
  sigaction(SIGINT, &old_sigint_, nullptr);
  sigaction(SIGHUP, &old_sighup_, nullptr);
  is_hooked = false;
}

ActionCallback SignalHandler::GetActionFunction() {
  return [this] { return CheckForSignals(); };
}

SolverAction::Enum SignalHandler::CheckForSignals() const {
  if (got_sighup.exchange(false)) return SIGHUP_action_;
  if (got_sigint.exchange(false)) return SIGINT_action_;
  return SolverAction::NONE;
}

}  // namespace caffe
