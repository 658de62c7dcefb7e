#ifndef CAFFE_SRC_SOLVERS_LEARNING_RATE_HPP_
#define CAFFE_SRC_SOLVERS_LEARNING_RATE_HPP_

#include "caffe/proto/caffe.pb.h"

// The learning-rate policies, as functions of the iteration and of the number
// of steps taken so far, which only "step" and "multistep" count.
namespace caffe {

// Throws Error when lr_policy is none that exists or lacks a setting it needs.
void CheckLearningRatePolicy(const SolverParameter& param);

// The number of steps taken at `iter`, given that of the iteration before. A
// multistep takes at most one step an iteration.
int LearningRateStep(const SolverParameter& param, int iter, int current_step);

//   fixed      base_lr
//   step       base_lr * gamma ^ current_step, a step every stepsize iterations
//   multistep  the same, a step at every stepvalue
//   exp        base_lr * gamma ^ iter
//   inv        base_lr * (1 + gamma * iter) ^ -power
//   poly       base_lr * (1 - iter / max_iter) ^ power
//   sigmoid    base_lr / (1 + exp(-gamma * (iter - stepsize)))
//
// REQUIRES: CheckLearningRatePolicy did not throw.
double LearningRate(const SolverParameter& param, int iter, int current_step);

}  // namespace caffe

#endif  // CAFFE_SRC_SOLVERS_LEARNING_RATE_HPP_
