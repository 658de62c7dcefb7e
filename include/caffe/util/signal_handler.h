#ifndef INCLUDE_CAFFE_UTIL_SIGNAL_HANDLER_H_
#define INCLUDE_CAFFE_UTIL_SIGNAL_HANDLER_H_

#include <csignal>

#include "caffe/solver.hpp"

namespace caffe {

// Turns SIGINT and SIGHUP into requests to the solver while it lives; then
// they have the effect they had before. There can be one at a time.
class SignalHandler {
 public:
  SignalHandler(SolverAction::Enum SIGINT_action,
                SolverAction::Enum SIGHUP_action);
  ~SignalHandler();

  // For Solver::SetActionFunction: what the last signal asks for, once. Must
  // not be called when the handler is gone.
  ActionCallback GetActionFunction();

 private:
  SolverAction::Enum CheckForSignals() const;

  const SolverAction::Enum SIGINT_action_;
  const SolverAction::Enum SIGHUP_action_;
  struct sigaction old_sigint_ = {};
  struct sigaction old_sighup_ = {};

  DISABLE_COPY_AND_ASSIGN(SignalHandler);
};

}  // namespace caffe

#endif  // INCLUDE_CAFFE_UTIL_SIGNAL_HANDLER_H_
