#include "cpu/engine.hpp"

namespace caffe::cpu {

namespace {

thread_local Kernels current = Kernels::kFastest;

}  // namespace

Kernels kernels() { return current; }

ScopedKernels::ScopedKernels(Kernels choice) : outer_(current) {
  current = choice;
}

ScopedKernels::~ScopedKernels() { current = outer_; }

}  // namespace caffe::cpu
